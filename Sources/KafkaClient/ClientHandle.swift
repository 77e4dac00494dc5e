internal import CRdKafka
internal import Glibc
internal import StreamPorts

/// One `rd_kafka_t`, from its making to its end.
///
/// All calls come from the thread that owns the client; only its end may run on another.
@safe
final class ClientHandle {
    /// Never used after ``destroy(timeoutMilliseconds:)``.
    let pointer: OpaquePointer
    private let context: CallbackContext
    private var isAlive = true

    /// Makes a client; its callbacks go to `responder`, which is not retained, and `events`.
    ///
    /// - Throws: `refused` for settings that librdkafka doesn't take together.
    init(
        _ settings: KafkaSettings,
        role: ClientRole,
        clientID: String,
        events: any ClientEvents
    ) throws(StreamError) {
        let configuration = unsafe try settings.configuration(for: role, clientID: clientID)
        context = CallbackContext(client: clientID, events: events)
        unsafe registerCallbacks(on: configuration, role: role)
        unsafe rd_kafka_conf_set_opaque(
            configuration,
            Unmanaged.passRetained(context).toOpaque()
        )
        let type = role.isProducer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER
        let (client, reason) = unsafe withErrorText { bytes, size in
            unsafe rd_kafka_new(type, configuration, bytes, size)
        }
        guard let client = unsafe client else {
            unsafe rd_kafka_conf_destroy(configuration)
            unsafe Unmanaged.passUnretained(context).release()
            throw StreamError(
                .refused,
                operation: "kafka",
                code: StreamError.name(of: RD_KAFKA_RESP_ERR__INVALID_ARG),
                detail: reason
            )
        }
        unsafe pointer = client
    }

    deinit {
        if isAlive { Self.destroy(self, timeoutMilliseconds: 0) }
    }

    /// Sends this client's callbacks to `responder`, which is not retained.
    func respond(with responder: any ClientResponder) {
        context.responder = responder
    }

    /// Why the client is of no more use; nil while it is well.
    func preconditionFailure(_ operation: String) -> StreamError? {
        unsafe StreamError(fatalOf: pointer, operation: operation)
    }

    /// Ends the client, and waits at most so long for it.
    ///
    /// librdkafka can hang here (its issues 4527 and 4724), so a thread of its own does it. One
    /// that doesn't end in time is left behind, together with what the callbacks need.
    func destroy(timeoutMilliseconds: Int32) {
        guard isAlive else { return }
        isAlive = false
        context.responder = nil
        Self.destroy(self, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Forgets the client without ending it, where its end would crash the process.
    func abandon() {
        isAlive = false
        context.responder = nil
    }

    private static func destroy(_ handle: ClientHandle, timeoutMilliseconds: Int32) {
        let ending = unsafe Ending(client: handle.pointer, context: handle.context)
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let ending = unsafe Unmanaged<Ending>.fromOpaque(argument).takeRetainedValue()
                ending.run()
                return nil
            },
            Unmanaged.passRetained(ending).toOpaque()
        )
        precondition(result == 0, "no thread can be made to end a client")
        pthread_detach(thread)
        ending.wait(milliseconds: timeoutMilliseconds)
    }
}

/// What the thread that ends a client shares with the one that waits for it.
@safe
private final class Ending {
    private let client: OpaquePointer
    private let context: CallbackContext
    private let done: UnsafeMutablePointer<sem_t>

    init(client: OpaquePointer, context: CallbackContext) {
        unsafe self.client = client
        self.context = context
        unsafe done = .allocate(capacity: 1)
        unsafe sem_init(done, 0, 0)
    }

    deinit {
        unsafe sem_destroy(done)
        unsafe done.deallocate()
    }

    /// Ends the client without leaving its group, which the owner has done; then nothing calls
    /// back.
    func run() {
        unsafe rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE)
        unsafe Unmanaged.passUnretained(context).release()
        unsafe sem_post(done)
    }

    func wait(milliseconds: Int32) {
        var until = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &until)
        let nanoseconds = until.tv_nsec + Int(milliseconds % 1000) * 1_000_000
        until.tv_sec += Int(milliseconds / 1000) + nanoseconds / 1_000_000_000
        until.tv_nsec = nanoseconds % 1_000_000_000
        while unsafe sem_timedwait(done, &until) != 0, errno == EINTR {}
    }
}
