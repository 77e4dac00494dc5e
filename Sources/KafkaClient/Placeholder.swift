// Placeholder until the first source of KafkaClient.
