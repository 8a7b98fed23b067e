/** The call was not paid for or not answered. Its message is for whoever called the command. */
export class PayError extends Error {
  override readonly name = 'PayError';
}
