import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { agentAddress } from '../../../protocol/agents/did.ts';
import { fc } from '../../fixtures/properties.ts';

/** `idchar` of DID Core §3.1, and the colons between the parts. */
const DID = /^did:web(?::(?:[A-Za-z0-9._-]|%[0-9A-F]{2})+)+$/;

test('an address and a name become a did:web', () => {
  const cases = [
    ['https://eu.example', 'bot-1', 'did:web:eu.example:agents:bot-1', 'https://eu.example/agents/bot-1/did.json'],
    ['https://eu.example:8443', 'b', 'did:web:eu.example%3A8443:agents:b', 'https://eu.example:8443/agents/b/did.json'],
    ['https://example.org/eu', 'b', 'did:web:example.org:eu:agents:b', 'https://example.org/eu/agents/b/did.json'],
    ['https://eu.example', 'a:b/c d', 'did:web:eu.example:agents:a%3Ab%2Fc%20d', null],
    ['https://eu.example', "it's (me)!*~", 'did:web:eu.example:agents:it%27s%20%28me%29%21%2A%7E', null],
    ['https://eu.example', 'größe', 'did:web:eu.example:agents:gr%C3%B6%C3%9Fe', null],
  ] as const;
  for (const [baseUrl, agentId, did, url] of cases) {
    const address = agentAddress(baseUrl, agentId);
    assert.is(address.did, did);
    if (url !== null) assert.is(address.didDocumentUrl, url);
  }
});

test('every name makes a well-formed DID that resolves to where the document is, and no two the same', () => {
  const seen = new Map<string, string>();
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }), (agentId) => {
      if (!agentId.isWellFormed()) return;
      const { did, didDocumentUrl } = agentAddress('https://eu.example:8443', agentId);
      assert.match(did, DID);
      assert.is(resolve(did), didDocumentUrl);
      const path = new URL(didDocumentUrl).pathname.split('/');
      if (agentId !== '.' && agentId !== '..') {
        assert.equal(
          [path.length, path[1], decodeURIComponent(path[2] ?? ''), path[3]],
          [4, 'agents', agentId, 'did.json'],
        );
      }
      assert.is(seen.get(did) ?? agentId, agentId);
      seen.set(did, agentId);
    }),
  );
});

/** The resolution of the did:web method specification, §2.3.2. */
function resolve(did: string): string {
  const [host = '', ...folders] = did.split(':').slice(2);
  return `https://${host.replace('%3A', ':')}/${folders.join('/')}/did.json`;
}

test.run();
