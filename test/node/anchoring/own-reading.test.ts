import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { takeAnchors } from '../../../node/anchoring/anchor-intake.ts';
import { MAX_SIGHTINGS } from '../../../node/anchoring/anchors.ts';
import { contradictsReading } from '../../../node/anchoring/own-reading.ts';
import { INITIAL_HEAD, linkMessages } from '../../../node/anchoring/topic-links.ts';
import { Store } from '../../../node/store/store.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import type { BundleAnchor } from '../../../protocol/bundle/bundle.ts';
import { hashBytes } from '../../../protocol/hash.ts';
import { anchorOf, consensusOf, TestTopic } from '../../fixtures/federation-topic.ts';
import { anchorMessage, FEDERATION, sealedBatch, temporaryDirectory } from './anchoring-node.ts';

const FIRST_AT = Date.UTC(2026, 10, 20);
const HOUR_MS = 3_600_000;

test('of a message that was repeated many times no place that was not kept has an earlier time than those that were', async () => {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  const topic = new TestTopic();
  const message = anchorMessage(sealedBatch(1));
  const repeats = Array.from({ length: MAX_SIGHTINGS + 4 }, (_, i) => topic.submit(message, FIRST_AT + i * 1000));
  const { head, linked } = linkMessages(INITIAL_HEAD, topic.topicId, repeats.map(messageOf));
  const identity = { network: topic.network, topicId: topic.topicId, federation: FEDERATION };
  await store.write((await takeAnchors(store, identity, linked)).operations);

  const contradicts = (anchor: BundleAnchor) => contradictsReading(store, head, anchor);
  for (const anchor of repeats) assert.not(await contradicts(anchor), `message ${anchor.sequence}`);
  for (const sequence of [1, 2, MAX_SIGHTINGS + 2, repeats.length, 999_999]) {
    const consensusTimestamp = consensusOf(FIRST_AT - HOUR_MS);
    const backDated = anchorOf(topic, message, { sequence, consensusTimestamp, previous: new Uint8Array(48) });
    assert.ok(await contradicts(backDated.anchor), `message ${sequence}, an hour early`);
  }
});

function messageOf(anchor: BundleAnchor) {
  return {
    sequence: Number(anchor.sequence),
    consensusTimestamp: anchor.consensusTimestamp,
    payer: anchor.payer,
    message: utf8(anchor.message),
    runningHash: hashBytes(anchor.runningHash),
    transactionId: null,
  };
}

test.run();
