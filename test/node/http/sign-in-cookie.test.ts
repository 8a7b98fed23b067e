import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SignInCookie } from '../../../node/http/sign-in-cookie.ts';
import { nodeId } from '../../../protocol/ids.ts';

const SECRET = 'A'.repeat(43);

/** A cookie of a node at an address, and the secrets that were looked up. */
function cookieAt(baseUrl: string) {
  const asked: string[] = [];
  const find = async (secret: string) => void asked.push(secret);
  const signIns = { find: (secret: string) => find(secret).then(() => undefined) };
  return { cookie: new SignInCookie({ node: nodeId('eu'), baseUrl: () => baseUrl, signIns }), asked };
}

function requestWith(cookie: string): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers.cookie = cookie;
  return request;
}

test('under https the cookie is bound to this very host, and sent over https alone', () => {
  const { cookie } = cookieAt('https://eu.example');
  const parts = cookie.set(SECRET).split('; ');
  assert.is(parts[0], `__Host-meridian_session_eu=${SECRET}`);
  for (const part of ['Path=/', 'HttpOnly', 'SameSite=Strict', 'Secure', 'Max-Age=43200']) {
    assert.ok(parts.includes(part), part);
  }
  assert.not.match(cookie.set(SECRET), /Domain/i);
  assert.match(cookie.cleared, /^__Host-meridian_session_eu=; Max-Age=0; .*Secure$/);
});

test('without https it has neither, so that browsers keep it', () => {
  const { cookie } = cookieAt('http://127.0.0.1:4001');
  assert.match(cookie.set(SECRET), /^meridian_session_eu=A{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
});

test('a cookie of another name is none: what another host may have set is not looked up', async () => {
  const { cookie, asked } = cookieAt('https://eu.example');
  for (const text of [`meridian_session_eu=${SECRET}`, `__Host-meridian_session_us=${SECRET}`, 'x', '']) {
    assert.is(await cookie.signedIn(requestWith(text)), undefined);
  }
  assert.equal(asked, []);
  await cookie.signedIn(requestWith(`a=b; __Host-meridian_session_eu=${SECRET}; __Host-meridian_session_eu=other`));
  assert.equal(asked, [SECRET], 'the first of two');
});

test.run();
