// Placeholder until the first source of AdminServer.
