// Placeholder until the first source of ComboWire.
