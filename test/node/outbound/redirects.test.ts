import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { followRedirects, RedirectError } from '../../../node/outbound/redirects.ts';

/** What comes of asking `first` where each address of `leads` leads to the next. */
async function followed(first: string, leads: Readonly<Record<string, string>>): Promise<string> {
  const asked: string[] = [];
  const answer = await followRedirects(new URL(first), async (url) => {
    asked.push(url.href);
    const location = leads[url.href];
    return location === undefined ? new Response('end') : new Response('', { status: 302, headers: { location } });
  }).catch((error: unknown) => error);
  if (answer instanceof RedirectError) return answer.message;
  return asked.join(' ');
}

test('a redirect is followed by its own address, up to five', async () => {
  assert.is(await followed('https://a.test/x', { 'https://a.test/x': '/y' }), 'https://a.test/x https://a.test/y');
  assert.is(
    await followed('http://a.test/', { 'http://a.test/': 'https://b.test/' }),
    'http://a.test/ https://b.test/',
  );
  const chain = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, i) => [`https://a.test/${i}`, `/${i + 1}`]));
  assert.match(await followed('https://a.test/0', chain(5)), /a\.test\/5$/);
  assert.is(await followed('https://a.test/0', chain(6)), 'leads on and on');
});

test('nobody is led to an open address, to another protocol, or from the world to what is near', async () => {
  const near = ['localhost', '127.0.0.1', '127.9.9.9', '[::1]', '10.0.0.1', '172.31.0.1', '192.168.1.1', '0.0.0.0'];
  near.push('169.254.169.254', '[fd00::1]', '[fe80::1]', '[::ffff:127.0.0.1]', '2130706433', 'x.localhost');
  near.push('localhost.', 'localhost..', 'x.localhost.', '127.0.0.1.', '100.100.100.200', '192.0.0.192', '[fec0::1]');
  near.push('[::7f00:1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[::ffff:10.0.0.1]');
  for (const to of [
    'http://a.test/',
    'ftp://a.test/',
    'file:///etc/passwd',
    'https://',
    ...near.map((host) => `https://${host}/`),
  ]) {
    const led = await followed('https://a.test/', { 'https://a.test/': to });
    assert.is(led, 'leads to an address that is not followed', to);
  }
});

test('who asks a machine that is near may be led on there, and not out', async () => {
  const led = await followed('http://127.0.0.1:1/', { 'http://127.0.0.1:1/': 'http://127.0.0.1:2/' });
  assert.is(led, 'http://127.0.0.1:1/ http://127.0.0.1:2/');
  const out = await followed('http://127.0.0.1:1/', { 'http://127.0.0.1:1/': 'https://a.test/' });
  assert.is(out, 'leads to an address that is not followed');
});

test('a redirect without an address is an answer', async () => {
  const answer = await followRedirects(new URL('https://a.test/'), async () => new Response('', { status: 301 }));
  assert.is(answer.status, 301);
});

test.run();
