internal import CRdKafka
internal import Glibc
internal import StreamPorts

/// One `rd_kafka_topic_partition_list_t`, from its making to its end.
@safe
struct PartitionList: ~Copyable {
    let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    /// An empty list.
    init(capacity: Int) {
        unsafe pointer = rd_kafka_topic_partition_list_new(Int32(capacity))
    }

    /// A copy of librdkafka's.
    init(copying list: UnsafePointer<rd_kafka_topic_partition_list_t>) {
        unsafe pointer = rd_kafka_topic_partition_list_copy(list)
    }

    /// Partitions of one topic, without offsets.
    init(topic: String, partitions: [Int32]) {
        self.init(capacity: partitions.count)
        for partition in partitions { add(topic: topic, partition: partition) }
    }

    /// Offsets of one topic with their metadata; no offset stays invalid.
    init(topic: String, offsets: [PartitionOffset]) {
        self.init(capacity: offsets.count)
        for offset in offsets {
            add(topic: topic, partition: offset.partition, offset: offset.offset)
            if let metadata = offset.metadata { setLastMetadata(metadata) }
        }
    }

    deinit {
        unsafe rd_kafka_topic_partition_list_destroy(pointer)
    }

    var count: Int { unsafe Int(pointer.pointee.cnt) }

    /// Adds a partition; nil stands for librdkafka's invalid offset.
    func add(topic: String, partition: Int32, offset: Int64? = nil) {
        let element = unsafe rd_kafka_topic_partition_list_add(pointer, topic, partition)
        if let element = unsafe element, let offset { unsafe element.pointee.offset = offset }
    }

    /// The partition's number, offset, error and metadata.
    func element(_ index: Int) -> (partition: Int32, offset: Int64, error: rd_kafka_resp_err_t) {
        precondition(index >= 0 && index < count, "no such element in the partition list")
        let element = unsafe pointer.pointee.elems[index]
        return unsafe (element.partition, element.offset, element.err)
    }

    /// The metadata string of an element; nil: none or empty, which brokers don't tell apart.
    func metadata(_ index: Int) -> String? {
        precondition(index >= 0 && index < count, "no such element in the partition list")
        let element = unsafe pointer.pointee.elems[index]
        guard let bytes = unsafe element.metadata, unsafe element.metadata_size > 0 else {
            return nil
        }
        let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: element.metadata_size)
        return unsafe String(decoding: buffer, as: UTF8.self)
    }

    /// The numbers of all partitions.
    var partitions: [Int32] { (0..<count).map { element($0).partition } }

    /// Throws the first error that a call left at one of the partitions.
    func checkElements(_ operation: String) throws(StreamError) {
        for index in 0..<count {
            let (partition, _, code) = element(index)
            guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { continue }
            let reason = unsafe String(cString: rd_kafka_err2str(code))
            throw StreamError(
                code,
                operation: operation,
                detail: "partition \(partition): \(reason)"
            )
        }
    }

    /// librdkafka frees the copy together with the list.
    private func setLastMetadata(_ metadata: String) {
        let element = unsafe pointer.pointee.elems + (count - 1)
        var metadata = metadata
        metadata.withUTF8 { bytes in
            guard let base = bytes.baseAddress, let copy = unsafe malloc(bytes.count) else {
                return
            }
            unsafe copy.copyMemory(from: base, byteCount: bytes.count)
            unsafe element.pointee.metadata = copy
            unsafe element.pointee.metadata_size = bytes.count
        }
    }
}
