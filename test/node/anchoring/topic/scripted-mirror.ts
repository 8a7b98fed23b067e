import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { readMessages, type MirrorMessage } from '../../../../node/anchoring/ledger/mirror-shapes.ts';
import type { EntityId } from '../../../../protocol/ids.ts';

/** What a mirror makes of the topic as the ledger has it. */
export type Story = (truth: readonly MirrorMessage[]) => readonly MirrorMessage[];

export const truth: Story = (messages) => messages;

/** A mirror that can tell anything: it reads the ledger's own mirror, and tells a story of it. */
export class ScriptedMirror implements AsyncDisposable {
  readonly url: string;
  story: Story = truth;
  /** Answered instead of a story, where it is set. */
  status: number | undefined;
  /** Questions for messages so far. */
  asked = 0;
  readonly #server: Server;
  readonly #ledgerUrl: string;
  readonly #topicId: EntityId;
  #read: MirrorMessage[] = [];

  private constructor(server: Server, port: number, ledgerUrl: string, topicId: EntityId) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
    this.#ledgerUrl = ledgerUrl;
    this.#topicId = topicId;
  }

  static async start(ledgerUrl: string, topicId: EntityId): Promise<ScriptedMirror> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no address');
    const mirror = new ScriptedMirror(server, address.port, ledgerUrl, topicId);
    server.on('request', (request, response) => {
      mirror.asked++;
      void mirror.#answer(request.url ?? '').then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
    });
    return mirror;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(path: string): Promise<{ readonly status: number; readonly body: object }> {
    try {
      if (this.status !== undefined) return { status: this.status, body: {} };
      const after = Number(/sequencenumber=gt:(\d+)/.exec(path)?.[1]);
      await this.#follow();
      const page = this.story(this.#read).filter(({ sequence }) => sequence > after);
      return {
        status: 200,
        body: { links: { next: null }, messages: page.slice(0, 100).map((one) => this.#row(one)) },
      };
    } catch {
      return { status: 502, body: {} };
    }
  }

  async #follow(): Promise<void> {
    for (let count = 100; count === 100;) {
      const query = `limit=100&order=asc&sequencenumber=gt:${this.#read.length}`;
      const response = await fetch(`${this.#ledgerUrl}/api/v1/topics/${this.#topicId}/messages?${query}`);
      const messages = readMessages(await response.json(), this.#topicId);
      count = messages.length;
      const isNew = ({ sequence }: MirrorMessage): boolean => sequence > this.#read.length;
      for (const message of messages) if (isNew(message)) this.#read.push(message);
    }
  }

  #row({ sequence, consensusTimestamp, payer, message, runningHash }: MirrorMessage): object {
    return {
      chunk_info: null,
      consensus_timestamp: consensusTimestamp,
      message: Buffer.from(message).toString('base64'),
      payer_account_id: payer,
      running_hash: Buffer.from(runningHash).toString('base64'),
      running_hash_version: 3,
      sequence_number: sequence,
      topic_id: this.#topicId,
    };
  }
}
