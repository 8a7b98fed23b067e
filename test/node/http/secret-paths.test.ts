import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isPublic } from '../../../node/http/app.ts';
import { startingGate } from '../../../node/http/gate.ts';
import type { FreeRoute } from '../../../node/http/route.ts';
import { SecretPaths } from '../../../node/http/secret-paths.ts';
import { NodeClient } from '../../fixtures/node-client.ts';
import { openGate, serveApp } from '../../fixtures/served-app.ts';

const TOKEN = 'V3nT8kQ1xWm6ZcR0pYb5LsHd7GfJ2uEa9NoK4iXtB8s';

function free(path: string): FreeRoute {
  return {
    method: 'GET',
    path,
    access: 'free',
    documentation: { summary: 'Asks', answer: { contentType: 'text/plain', example: '' }, problems: [] },
    answer: async () => ({ body: {} }),
  };
}

test('what stands where a secret may is never shown', () => {
  const paths = new SecretPaths(['/v1/shared/:token', '/v1/keys/:id', '/verify/v1/shared/:token', '/v1/tokens']);
  const shown = (path: string) => paths.shown(path);
  assert.is(shown(`/v1/shared/${TOKEN}`), '/v1/shared/:token');
  assert.is(shown(`/verify/v1/shared/${TOKEN}`), '/verify/v1/shared/:token');
  assert.is(shown(`/v1/shared/${TOKEN}/and/more`), '/v1/shared/:token');
  assert.is(shown('/v1/shared/'), '/v1/shared/');
  assert.is(shown('/v1/keys/key_eu_1'), '/v1/keys/key_eu_1');
});

test('what a secret path answers is no answer for anyone, and is never compressed', () => {
  assert.equal([isPublic(free('/v1/shared/:token')), isPublic(free('/v1/proofs/:id'))], [false, true]);
});

test('a node that has just started opens no link: its store may not know that it was revoked', async () => {
  const gate = openGate(() => {
    throw new Error('no key is needed');
  });
  const start = { pending: true };
  await using app = await serveApp(startingGate(gate, start), [free('/v1/shared/:token'), free('/v1/proofs/:id')]);
  const client = new NodeClient(app.base, 'none');
  const refused = await client.get(`/v1/shared/${TOKEN}`);
  assert.equal([refused.status, refused.body.code], [503, 'recovering']);
  assert.is((await client.get('/v1/proofs/x')).status, 200);
  start.pending = false;
  assert.is((await client.get(`/v1/shared/${TOKEN}`)).status, 200);
});

test.run();
