import { connect, type Socket } from 'node:net';

/** The bare line protocol, for saying what no decent client says. */
export class SmtpClient implements Disposable {
  readonly #socket: Socket;
  #heard = '';
  #closed = false;

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.on('data', (chunk: Buffer) => (this.#heard += chunk.toString('latin1')));
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => (this.#closed = true));
  }

  /** Everything that the server said. */
  get heard(): string {
    return this.#heard;
  }

  get closed(): boolean {
    return this.#closed;
  }

  write(bytes: string | Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  /** Sends a line; returns the server's next reply, or nothing where it hung up instead. */
  async say(line: string): Promise<string> {
    const before = this.#heard.length;
    this.write(`${line}\r\n`);
    return this.#next(before);
  }

  /** The greeting, then an introduction. */
  async greet(): Promise<string> {
    await this.#next(0);
    return this.say('EHLO client.test');
  }

  /** A whole mail up to the reply to its last dot. */
  async mail(to: readonly string[], text: string): Promise<string> {
    await this.say('MAIL FROM:<from@example.test>');
    for (const address of to) await this.say(`RCPT TO:<${address}>`);
    await this.say('DATA');
    return this.say(`${text}\r\n.`);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  async #next(before: number): Promise<string> {
    // A reply ends with a line whose code a space follows.
    while (!this.#closed && !/^\d{3} [^\n]*\n$/m.test(this.#heard.slice(before))) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return this.#heard.slice(before);
  }
}
