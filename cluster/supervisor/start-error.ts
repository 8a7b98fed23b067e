/** Why the cluster does not start, in one line that tells its user what to do. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
