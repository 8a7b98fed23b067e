import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { attestDraft } from '../../../../node/verification/attestation/decision-drafts.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';

const LONGEST = 256;

for (const character of ['a', '😀']) {
  test(`a reference database of ${LONGEST} code points like ${character} is lifted, a longer one is not`, () => {
    const longest = character.repeat(LONGEST);
    assert.equal(lifted({ referenceDatabase: longest }), [{ id: longest }]);
    assert.equal(lifted({ data: { referenceDatabase: [longest] } }), [{ id: longest }]);
    assert.is(lifted({ data: { referenceDatabase: longest + character } }), undefined);
  });
}

function lifted(members: { readonly referenceDatabase?: string; readonly data?: JsonObject }) {
  const request = { sourceId: 's', data: {}, ...members };
  return attestDraft('account', { request, body: request, additional: new Map() }).claims.referenceDatabase;
}

test.run();
