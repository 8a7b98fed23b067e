/** The command line says something that this command does not know. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
