import type { TestMailSink } from '../../../fixtures/mail-sink.ts';
import type { TestNode } from '../../../fixtures/test-node.ts';
import { BrowserClient } from './browser-client.ts';

/** Somebody who asks for a link in a mail, and signs in by it. */
export async function signedInByMail(node: TestNode, sink: TestMailSink, email: string): Promise<BrowserClient> {
  const browser = new BrowserClient(node);
  await browser.post('/console/mail', { email });
  const { text } = await sink.waitForMail(email);
  const [, path] = /^http:\/\/127\.0\.0\.1:\d+(?:\/verify)?(\/console\/enter\/[\w-]{43})$/m.exec(text) ?? [];
  if (path === undefined) throw new Error(`no link in ${text}`);
  const { status, headers, text: page } = await browser.post(path, {});
  if (status !== 303) throw new Error(`${status}: ${page}`);
  browser.cookie = (headers.get('set-cookie') ?? '').split(';')[0];
  return browser;
}

/** Somebody who is invited and signs in by mail. `ask` is a key that administers the account. */
export async function invitedByMail(
  node: TestNode,
  sink: TestMailSink,
  invitation: { readonly email: string; readonly role: string },
  ask: { readonly key: string },
): Promise<{ readonly personId: string; readonly browser: BrowserClient }> {
  const { status, text, body } = await node.post('/v1/people', invitation, ask);
  if (status !== 200) throw new Error(text);
  await sink.waitForMail(invitation.email);
  return { personId: String(body.personId), browser: await signedInByMail(node, sink, invitation.email) };
}
