#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

// Swift doesn't import variadic functions. Of librdkafka's calls only this one takes a timestamp
// and a topic handle without an array of tagged unions that is filled and read again per record.
static inline rd_kafka_resp_err_t giftcombo_produce(
    rd_kafka_t *client, rd_kafka_topic_t *topic, int32_t partition, int64_t timestamp,
    const void *key, size_t key_size, const void *value, size_t value_size) {
  return rd_kafka_producev(
      client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition),
      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_TIMESTAMP(timestamp),
      RD_KAFKA_V_KEY(key, key_size), RD_KAFKA_V_VALUE((void *)value, value_size), RD_KAFKA_V_END);
}

// The same with headers, which belong to the record from here on if the call succeeds.
static inline rd_kafka_resp_err_t giftcombo_produce_with_headers(
    rd_kafka_t *client, rd_kafka_topic_t *topic, int32_t partition, int64_t timestamp,
    const void *key, size_t key_size, const void *value, size_t value_size,
    rd_kafka_headers_t *headers) {
  return rd_kafka_producev(
      client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(partition),
      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_TIMESTAMP(timestamp),
      RD_KAFKA_V_KEY(key, key_size), RD_KAFKA_V_VALUE((void *)value, value_size),
      RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
}
