import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  hashBytes,
  HashFormatError,
  hashText,
  isSha256Hash,
  isSha384Hash,
  writeSha256,
  writeSha384,
} from '../../protocol/hash.ts';
import { IdError, isEntityId, isNodeId, isRecordId, nodeId, nodeOfRecord, recordId } from '../../protocol/ids.ts';
import { nobleSuite } from '../../protocol/suite/noble.ts';
import { fc } from '../fixtures/properties.ts';

const DIGEST = 'ab'.repeat(32);
const ULID = '01JD4XKZ8Q0000000000000000';

test('a written hash reads back to its bytes', () => {
  const digest = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
  fc.assert(fc.property(digest(32), (bytes) => assert.equal(hashBytes(writeSha256(bytes)), bytes)));
  fc.assert(fc.property(digest(48), (bytes) => assert.equal(hashBytes(writeSha384(bytes)), bytes)));
});

test('a digest of another length is not written', () => {
  for (const length of [0, 20, 31, 33, 48, 64]) {
    assert.throws(
      () => writeSha256(new Uint8Array(length)),
      (error: unknown) => error instanceof HashFormatError,
    );
  }
  assert.throws(
    () => writeSha384(new Uint8Array(32)),
    (error: unknown) => error instanceof HashFormatError,
  );
});

test('only the one form of a hash is a hash', () => {
  assert.ok(isSha256Hash(`sha256:${DIGEST}`));
  assert.ok(isSha384Hash(`sha384:${'0'.repeat(96)}`));
  for (const text of [
    DIGEST,
    `0x${DIGEST}`,
    `SHA256:${DIGEST}`,
    `sha256:${DIGEST.toUpperCase()}`,
    `sha256:0x${DIGEST.slice(2)}`,
    `sha256:${DIGEST.slice(1)}`,
    `sha256:${DIGEST}0`,
    `sha256:${DIGEST}\n`,
    ` sha256:${DIGEST}`,
    `sha384:${DIGEST}`,
    'sha256:',
    '',
  ]) {
    assert.not(isSha256Hash(text), text);
  }
});

test('the hash of a text is SHA-256 of its UTF-8 bytes', () => {
  assert.is(hashText(nobleSuite, ''), 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  assert.is(hashText(nobleSuite, 'abc'), 'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('node ids are two letters and up to two digits', () => {
  for (const id of ['eu', 'us2', 'jp99']) assert.is(nodeId(id), id);
  for (const id of ['', 'e', 'EU', 'eur', 'eu100', '1eu', 'eu ', 'eu\n', 'é1']) {
    assert.not(isNodeId(id), id);
    assert.throws(
      () => nodeId(id),
      (error: unknown) => error instanceof IdError,
    );
  }
});

test('a record id names its node and holds a ULID', () => {
  for (const node of ['eu', 'us2', 'jp99']) assert.is(nodeOfRecord(recordId(`att_${node}_${ULID}`)), node);
  for (const id of [
    `att_eu_${ULID.toLowerCase()}`,
    `att_eu_${ULID}0`,
    `att_eu_8${ULID.slice(1)}`,
    `att_eu_${ULID.replace('J', 'I')}`,
    `att_EU_${ULID}`,
    `att__${ULID}`,
    `att_eu${ULID}`,
    `at_eu_${ULID}`,
    `att_eu_${ULID}\n`,
    ULID,
    '',
  ]) {
    assert.not(isRecordId(id), id);
    assert.throws(
      () => recordId(id),
      (error: unknown) => error instanceof IdError,
    );
  }
});

test('a ledger entity is three numbers without leading zeros', () => {
  for (const id of ['0.0.0', '0.0.1001', '1.2.9223372036854775807']) assert.ok(isEntityId(id), id);
  for (const id of [
    '',
    '0.0',
    '0.0.0.0',
    '0.0.01',
    '0.0.-1',
    '0.0.1 ',
    '0.0.0x1',
    '0.0.1\n',
    '0.0.99999999999999999999',
  ]) {
    assert.not(isEntityId(id), id);
  }
});

test.run();
