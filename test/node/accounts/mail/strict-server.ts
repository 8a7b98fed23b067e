import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { callbackify } from 'node:util';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';

const TLS = join(import.meta.dirname, '../../../fixtures/tls');

/** A real SMTP server that refuses what a test wants refused. */
export interface StrictServer extends AsyncDisposable {
  readonly port: number;
  /** Whole text of each mail that it took. */
  readonly mails: readonly string[];
}

/** A refusal with a reply code, as the handlers of the server throw it. */
export function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** The certificate that the server shows. */
export function certificate(): Promise<string> {
  return readFile(join(TLS, 'localhost.crt'), 'utf8');
}

export async function startStrictServer(options: SMTPServerOptions = {}, host = '127.0.0.1'): Promise<StrictServer> {
  const mails: string[] = [];
  const smtp = new SMTPServer({
    cert: await certificate(),
    key: await readFile(join(TLS, 'localhost.key'), 'utf8'),
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    onData: callbackify(async (stream: SMTPServerDataStream, _session: SMTPServerSession) => {
      mails.push(await text(stream));
    }),
    ...options,
  });
  smtp.on('error', () => {});
  await new Promise<void>((resolve) => smtp.listen(0, host, resolve));
  const address = smtp.server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    mails,
    [Symbol.asyncDispose]: () => new Promise((resolve) => smtp.close(() => resolve())),
  };
}
