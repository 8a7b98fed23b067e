import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AddressList, isAddressRange } from '../../../node/outbound/address-list.ts';
import { fc } from '../../fixtures/properties.ts';

const ipv4Range = fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`);

test('addresses and ranges of both families; nothing else', () => {
  const list = new AddressList(['203.0.113.7', '198.51.100.0/24', '2001:db8::/32', '::1']);
  for (const inside of ['203.0.113.7', '198.51.100.255', '::ffff:198.51.100.9', '2001:db8:ffff::1', '::1']) {
    assert.ok(list.admits(inside), inside);
  }
  for (const outside of ['203.0.113.8', '198.51.101.0', '2001:db9::', '::2', '', 'unknown', 'localhost', '1.2.3']) {
    assert.not.ok(list.admits(outside), outside);
  }
});

test('text that is neither an address nor a range is refused', () => {
  for (const good of ['0.0.0.0/0', '::/0', '10.0.0.5/8', '2001:DB8::1/128', '127.0.0.1']) {
    assert.ok(isAddressRange(good), good);
  }
  const bad = ['', '1.2.3.4/33', '::/129', '1.2.3.4/', '1.2.3.4/08', '1.2.3.4/-1', '1.2.3', 'a', 'fe80::1%eth0'];
  const mapped = ['::ffff:1.2.3.4', '::ffff:102:304', '::FFFF:0:0/96', '0:0:0:0:0:ffff:1.2.3.4', '::ffff:0:0/20'];
  for (const text of [...bad, ...mapped, ' 1.2.3.4', '1.2.3.4/1/2', '01.2.3.4']) {
    assert.not.ok(isAddressRange(text), text);
    assert.throws(() => new AddressList([text]), RangeError);
  }
});

test('of entries that were stored, one that is no range admits nobody, and the others whom they admit', () => {
  const list = AddressList.ofStored(['::ffff:a00:1', '203.0.113.7', 'x']);
  assert.equal(
    ['10.0.0.1', '203.0.113.7'].map((address) => list.admits(address)),
    [false, true],
  );
  assert.not.ok(AddressList.ofStored(['::ffff:a00:1']).admits('10.0.0.1'));
});

test('a range is in another exactly where all of its addresses are', () => {
  fc.assert(
    fc.property(fc.array(ipv4Range, { minLength: 1, maxLength: 3 }), ipv4Range, fc.ipV4(), (outer, inner, any) => {
      const [outerList, innerList] = [new AddressList(outer), new AddressList([inner])];
      if (!outerList.contains(innerList)) return;
      const [base = ''] = inner.split('/');
      for (const address of [base, any]) if (innerList.admits(address)) assert.ok(outerList.admits(address));
    }),
    { numRuns: 2000 },
  );
  assert.ok(new AddressList(['10.0.0.0/8']).contains(new AddressList(['10.1.0.0/16', '10.9.9.9'])));
  assert.not.ok(new AddressList(['10.1.0.0/16']).contains(new AddressList(['10.0.0.0/8'])));
  assert.not.ok(new AddressList(['10.0.0.0/8']).contains(new AddressList(['10.0.0.1', '11.0.0.1'])));
  assert.not.ok(new AddressList(['0.0.0.0/0']).contains(new AddressList(['::/0'])));
});

test.run();
