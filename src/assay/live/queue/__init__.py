"""The queue on disk between an application and its workers."""
