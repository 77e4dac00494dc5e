// Placeholder until the first source of WorkerRuntime.
