import type { TestNode } from '../../../fixtures/test-node.ts';

/** An answer to a browser. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Sent {
  readonly site?: 'cross-site' | 'none' | 'same-origin' | 'same-site';
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks as a browser does: with its cookie, and with where the request comes from. It follows no redirect. */
export class BrowserClient {
  readonly #node: TestNode;
  cookie: string | undefined;

  constructor(node: TestNode) {
    this.#node = node;
  }

  get(path: string, { site = 'same-origin', headers = {} }: Sent = {}): Promise<PageAnswer> {
    return this.#send(path, { headers: { 'sec-fetch-site': site, ...headers } });
  }

  post(path: string, fields: Readonly<Record<string, string>>, { site = 'same-origin', headers = {} }: Sent = {}) {
    return this.#send(path, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { 'sec-fetch-site': site, ...headers },
    });
  }

  /** Signs in by a key; what the browser keeps is sent from now on. */
  async signIn(apiKey: string): Promise<PageAnswer> {
    const answer = await this.post('/console/sign-in', { apiKey });
    const [cookie] = (answer.headers.get('set-cookie') ?? '').split(';');
    if (answer.status === 303) this.cookie = cookie;
    return answer;
  }

  /** The hidden fields of the form of a page. */
  async hidden(path: string): Promise<Record<string, string>> {
    return hiddenOf((await this.get(path)).text);
  }

  async #send(path: string, init: RequestInit): Promise<PageAnswer> {
    const headers = new Headers(init.headers);
    if (this.cookie !== undefined) headers.set('cookie', this.cookie);
    const response = await fetch(this.#node.baseUrl + path, { ...init, headers, redirect: 'manual' });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}

/** Of the last form of a page: that of the sign-out stands before it. */
export function hiddenOf(html: string): Record<string, string> {
  const form = html.split('<form').at(-1) ?? '';
  const inputs = form.match(/<input type="hidden"[^>]*>/g) ?? [];
  return Object.fromEntries(
    inputs.map((input) => [/name="([^"]*)"/.exec(input)?.[1] ?? '', /value="([^"]*)"/.exec(input)?.[1] ?? '']),
  );
}
