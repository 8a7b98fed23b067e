import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AGENT_EXAMPLES } from '../../../protocol/api/agent-examples.ts';
import {
  AgentAnswerShape,
  DeactivateAgentAnswerShape,
  DeactivateAgentRequestShape,
  DidDocumentShape,
  RegisterAgentAnswerShape,
  RegisterAgentRequestShape,
  RotateAgentAnswerShape,
  RotateAgentRequestShape,
} from '../../../protocol/api/agents.ts';
import { ATTESTATIONS_EXAMPLE, AttestationsAnswerShape } from '../../../protocol/api/attestations.ts';
import { CONTINUITY_EXAMPLE, ContinuityAnswerShape } from '../../../protocol/api/continuity.ts';
import { decodeBase64url } from '../../../protocol/bytes.ts';
import { hashParts } from '../../../protocol/hash.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { PUBLIC_KEY_BYTES } from '../../../protocol/suite/suite.ts';
import { shapeCheck } from '../../node/http/answer-shape.ts';

test('examples of agents and lists are of their schemas, and answers are closed', () => {
  const answers = [
    [RegisterAgentAnswerShape, AGENT_EXAMPLES.register.answer],
    [RotateAgentAnswerShape, AGENT_EXAMPLES.rotate.answer],
    [DeactivateAgentAnswerShape, AGENT_EXAMPLES.deactivate.answer],
    [AgentAnswerShape, AGENT_EXAMPLES.agent],
    [DidDocumentShape, AGENT_EXAMPLES.document],
    [AttestationsAnswerShape, ATTESTATIONS_EXAMPLE],
    [ContinuityAnswerShape, CONTINUITY_EXAMPLE],
  ] as const;
  for (const [shape, example] of answers) {
    const check = shapeCheck(shape);
    check({ ...example });
    assert.throws(() => check({ ...example, extra: 1 }));
  }
  shapeCheck(RegisterAgentRequestShape)(AGENT_EXAMPLES.register.request);
  shapeCheck(RotateAgentRequestShape)(AGENT_EXAMPLES.rotate.request);
  shapeCheck(DeactivateAgentRequestShape)(AGENT_EXAMPLES.deactivate.request);
});

test('the keys of the examples have the length of keys, and the ids of those', () => {
  for (const { publicKey, keyId } of [AGENT_EXAMPLES.register.answer, AGENT_EXAMPLES.rotate.answer]) {
    const bytes = decodeBase64url(publicKey);
    assert.is(bytes.length, PUBLIC_KEY_BYTES);
    assert.is(hashParts(nobleSuite, bytes), keyId);
  }
});

test.run();
