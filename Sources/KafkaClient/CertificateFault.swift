/// Why OpenSSL refuses a certificate, by the numbers that its `x509_vfy.h` gives the reasons.
enum CertificateFault {
    private static let known: [Int32: String] = [
        9: "the certificate is not yet valid",
        10: "the certificate has expired",
        18: "the certificate is self-signed, by no authority that is trusted",
        19: "its authority is not among the trusted ones (a self-signed one in the chain)",
        20: "its authority is not among the trusted ones",
        21: "its authority is not among the trusted ones",
        23: "the certificate has been revoked",
        62: "hostname mismatch: the certificate is for another host",
        64: "IP address mismatch: the certificate is for another address",
    ]

    static func description(_ code: Int32) -> String {
        known[code] ?? "OpenSSL's verification error \(code)"
    }
}
