import { randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createApp } from '../../node/http/app.ts';
import type { Gate } from '../../node/http/gate.ts';
import { CONSOLE_HEADERS, pageAnswer } from '../../node/http/pages/page-answer.ts';
import { pageFileRoute } from '../../node/http/pages/pages.ts';
import { bind, type Listener } from '../../node/http/server.ts';
import { Problem } from '../../node/http/problem.ts';
import type { PageRoute } from '../../node/http/route.ts';
import { operatorRequest } from '../../node/operator/operator-client.ts';
import { Pages } from '../../node/pages/pages.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json/value.ts';
import type { Target } from '../key/targets.ts';
import { operatorSections } from './operator-sections.ts';

const HOST = '127.0.0.1';
const SECRET_BYTES = 32;
const COOKIE = 'meridian_operator';
const MAX_DEPTH = 32;

/**
 * An operator's screens, served to one browser of this machine by this process: the node has no such door. Whoever opens
 * the link first is let in, once; it asks the node over the socket in its home, which only its owner can reach.
 */
export class OperatorConsole implements AsyncDisposable {
  readonly #target: Target;
  readonly #folder: string;
  readonly #pages: Pages;
  readonly #secret = randomBytes(SECRET_BYTES).toString('base64url');
  /** Null once it was used. */
  #token: string | null = randomBytes(SECRET_BYTES).toString('base64url');
  #listener: Listener | undefined;

  private constructor(target: Target, folder: string) {
    this.#target = target;
    this.#folder = folder;
    this.#pages = new Pages(folder, pino({ level: 'silent' }));
  }

  static async start(target: Target): Promise<OperatorConsole> {
    const started = new OperatorConsole(target, await mkdtemp(join(tmpdir(), 'meridian-console-')));
    await started.#listen();
    return started;
  }

  /** Where it listens. */
  get baseUrl(): string {
    return `http://${HOST}:${this.#listener?.port ?? 0}`;
  }

  /** Works once. */
  get link(): string {
    return `${this.baseUrl}/enter/${this.#token ?? ''}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener?.[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #listen(): Promise<void> {
    const app = createApp({
      gate: this.#gate(),
      routes: [this.#enterRoute(), this.#screenRoute(), pageFileRoute(this.#pages)],
      baseUrl: () => this.baseUrl,
      log: pino({ level: 'silent' }),
      observe() {},
    });
    this.#listener = await bind(createServer(app.callback()), { host: HOST, port: 0 });
  }

  /** A page of a name that leads here (DNS rebinding) is nobody. */
  #gate(): Gate {
    return {
      free: (context, _route, answer) => {
        if (`http://${context.req.headers.host ?? ''}` === this.baseUrl) return answer();
        return Promise.reject(new Problem('scope-forbidden', 'This console has no other name than its address.'));
      },
      keyed: () => Promise.reject(new Problem('route-not-found', 'There is no API here.')),
    };
  }

  #enterRoute(): PageRoute {
    return {
      method: 'GET',
      path: '/enter/:token',
      access: 'free',
      isPage: true,
      answer: async ({ params: { token = '' } }) => {
        if (this.#token === null || !isSame(token, this.#token)) throw notIn();
        this.#token = null;
        const cookie = `${COOKIE}=${this.#secret}; Path=/; HttpOnly; SameSite=Strict`;
        return { status: 303, headers: { ...CONSOLE_HEADERS, 'Set-Cookie': cookie, Location: '../' }, body: '' };
      },
    };
  }

  #screenRoute(): PageRoute {
    return {
      method: 'GET',
      path: '/',
      access: 'free',
      isPage: true,
      answer: async ({ context }) => {
        if (!isSame(cookieOf(context.req), this.#secret)) throw notIn();
        const page = {
          name: 'console',
          title: 'How the node stands',
          node: this.#target.node,
          signedIn: null,
          sections: operatorSections({
            overview: await this.#ask('/overview'),
            lists: await this.#ask('/lists'),
            feed: await this.#ask('/regwatch'),
            keys: await this.#ask('/signing-keys'),
          }),
        } as const;
        return pageAnswer(this.#pages, page, './', { headers: CONSOLE_HEADERS });
      },
    };
  }

  async #ask(path: string): Promise<JsonObject> {
    const value = parseJson(await operatorRequest(this.#target.socket, 'GET', path), { maxDepth: MAX_DEPTH });
    return isJsonObject(value) ? value : {};
  }
}

function notIn(): Problem {
  return new Problem('scope-forbidden', 'The link was used, or is another one: start the command anew.');
}

function cookieOf({ headers }: IncomingMessage): string {
  const pair = (headers.cookie ?? '').split(';').find((one) => one.trim().startsWith(`${COOKIE}=`));
  return pair?.trim().slice(COOKIE.length + 1) ?? '';
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
