// Placeholder until the first source of Telemetry.
