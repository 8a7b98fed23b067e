import type { AddressInfo, Socket } from 'node:net';
import { domainToASCII } from 'node:url';
import { callbackify } from 'node:util';
import {
  SMTPServer,
  type SMTPServerAddress,
  type SMTPServerDataStream,
  type SMTPServerOptions,
  type SMTPServerSession,
} from 'smtp-server';
import { MailDirectory } from './mail-directory.ts';

/** A mail that was kept. */
export interface KeptMail {
  readonly to: readonly string[];
  /** Name of its file in the sink's directory. */
  readonly file: string;
}

export interface MailSinkOptions {
  /** Takes the mails. */
  readonly directory: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Told of each mail, before its sender is. */
  readonly onMail: (mail: KeptMail) => void;
  readonly limits?: Partial<MailSinkLimits>;
}

export interface MailSinkLimits {
  readonly messageBytes: number;
  readonly recipients: number;
  readonly connections: number;
  /** Longest silence of a client, and longest life of its connection. In milliseconds. */
  readonly silenceMs: number;
  readonly lifeMs: number;
}

/** A running sink. Disposing it lets mails under way end for a moment, then cuts what is left. */
export interface MailSink extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly directory: string;
}

const MAIL_SINK_LIMITS: MailSinkLimits = {
  messageBytes: 256 << 10,
  recipients: 16,
  connections: 32,
  silenceMs: 10_000,
  lifeMs: 60_000,
};
const LOOPBACK = '127.0.0.1';
/** Longer than any command with an address in it. In bytes. */
const MAX_COMMAND = 2_048;
/** Connections over the limit are told so; beyond as many again they are dropped unheard. */
const SOCKETS_PER_CONNECTION = 2;
/** In milliseconds. */
const DRAIN_MS = 300;
const REFUSED_TOO_LARGE = 552;
const FAILED_HERE = 451;

/**
 * Starts a development stand-in for a mail server: SMTP (RFC 5321) on loopback, which takes mail for anyone and
 * delivers it into a folder.
 *
 * @throws Error if the port is taken or the folder cannot be written; then nothing is left running
 */
export async function startMailSink(options: MailSinkOptions): Promise<MailSink> {
  const limits = { ...MAIL_SINK_LIMITS, ...options.limits };
  const directory = await MailDirectory.open(options.directory);
  const smtp = new SMTPServer({
    ...serverOptions(limits),
    onData: callbackify(async (stream: SMTPServerDataStream, session: SMTPServerSession) => {
      const mail = await deliver(stream, session, limits, directory);
      options.onMail(mail);
      return `kept as ${mail.file}`;
    }),
  });
  // A client that breaks off is nothing to act on; a port that cannot be had is reported by `listen`.
  smtp.on('error', () => {});
  const sockets = watchSockets(smtp, limits);
  const port = await listen(smtp, options.port);
  return {
    host: LOOPBACK,
    port,
    directory: directory.path,
    [Symbol.asyncDispose]: () => close(smtp, sockets),
  };
}

/** No login and no TLS: nothing but this machine reaches it, and there is nobody to tell apart. */
function serverOptions(limits: MailSinkLimits): SMTPServerOptions {
  return {
    banner: 'development mail sink',
    name: 'localhost',
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    // Anyone is a recipient. What could end a line or a command early is refused all the same.
    lenientAddressParsing: true,
    size: limits.messageBytes,
    maxRecipients: limits.recipients,
    maxClients: limits.connections,
    maxCommandLength: MAX_COMMAND,
    socketTimeout: limits.silenceMs,
    closeTimeout: DRAIN_MS,
  };
}

/** Bounds how many sockets are open and how long one lives, whatever its client does. */
function watchSockets(smtp: SMTPServer, { connections, lifeMs }: MailSinkLimits): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  const { server } = smtp;
  server.maxConnections = SOCKETS_PER_CONNECTION * connections;
  server.on('connection', (socket: Socket) => {
    const timer = setTimeout(() => socket.destroy(), lifeMs);
    sockets.add(socket);
    socket.once('close', () => {
      clearTimeout(timer);
      sockets.delete(socket);
    });
  });
  return sockets;
}

function listen(smtp: SMTPServer, port: number): Promise<number> {
  const { server } = smtp;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, LOOPBACK, () => {
      server.off('error', reject);
      const address: AddressInfo | string | null = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

async function close(smtp: SMTPServer, sockets: ReadonlySet<Socket>): Promise<void> {
  await new Promise<void>((resolve) => smtp.close(() => resolve()));
  for (const socket of sockets) socket.destroy();
}

/** Reads a mail to its end, keeping no more of it than the limit allows, and writes it down. */
async function deliver(
  stream: SMTPServerDataStream,
  { envelope }: SMTPServerSession,
  { messageBytes }: MailSinkLimits,
  directory: MailDirectory,
): Promise<KeptMail> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= messageBytes) chunks.push(chunk);
  }
  if (bytes > messageBytes) throw refusal(REFUSED_TOO_LARGE, `a mail has at most ${messageBytes} bytes`);
  const to = envelope.rcptTo.map(asWritten);
  const mail = Buffer.concat([Buffer.from(traceOf(envelope.mailFrom, to)), ...chunks]);
  try {
    return { to, file: await directory.keep(mail) };
  } catch {
    throw refusal(FAILED_HERE, 'the mail could not be written');
  }
}

/** What a mail server adds on delivery (RFC 5321 §4.4): the addresses of the envelope, which the text need not name. */
function traceOf(from: SMTPServerAddress | false, to: readonly string[]): string {
  const lines = [
    `Return-Path: <${from === false ? '' : asWritten(from)}>`,
    ...to.map((address) => `Delivered-To: ${address}`),
  ];
  return lines.map((line) => `${line}\r\n`).join('');
}

/** The server shows a domain in Unicode; in mails and in what others look for it is in ASCII (RFC 5891). */
function asWritten({ address }: SMTPServerAddress): string {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return address.slice(0, address.length - domain.length) + (domainToASCII(domain) || domain);
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
