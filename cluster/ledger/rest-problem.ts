/** An answer of the mirror REST API other than 200, in the API's own words. */
export class RestProblem extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'RestProblem';
    this.status = status;
  }

  get body(): object {
    return { _status: { messages: [{ message: this.message }] } };
  }
}

export const notFound = (): RestProblem => new RestProblem(404, 'Not found');
export const invalidParameter = (name: string): RestProblem => new RestProblem(400, `Invalid parameter: ${name}`);
