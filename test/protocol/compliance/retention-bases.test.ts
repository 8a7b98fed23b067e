import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  calendarWarnings,
  lockWarnings,
  namedBases,
  statutoryMinimumDays,
} from '../../../protocol/compliance/retention-bases.ts';
import { fc } from '../../fixtures/properties.ts';

const DAY_MS = 86_400_000;
const LOGS = { 'EU AI Act 19(1), 26(6)': 184 };
const DOCUMENTS = { 'EU AI Act 18(1), 47(1)': 3653 };

const bases: readonly (readonly [words: string, minimum: Readonly<Record<string, number>> | null])[] = [
  ['EU AI Act Article 26(5)', LOGS],
  ['EU AI Act', LOGS],
  ['the AI Act', LOGS],
  ['Article 99 of the AI Act', LOGS],
  ['Article 18 of Regulation (EU) 2024/1689', DOCUMENTS],
  ['EU AI Act Annex IV', DOCUMENTS],
  ['EU AI Act Art. 11', DOCUMENTS],
  ['Art. 11 EU AI Act', DOCUMENTS],
  ['EU AI Act, Articles 12 and 18(1)', { ...LOGS, ...DOCUMENTS }],
  ['EU AI Act 26(6), Art. 47', { ...LOGS, ...DOCUMENTS }],
  ['EU AI Act 18(1), Annex XI, 17a-4(a)', { ...DOCUMENTS, 'EU AI Act 54(3)(b)': 3653, 'SEC 17a-4(a)': 2192 }],
  ['EU AI Act Annex XI', { 'EU AI Act 54(3)(b)': 3653 }],
  ['EU AI Act, kept for 18 months by our own policy', LOGS],
  ['EU AI Act, GDPR Art. 17', LOGS],
  ['Art. 18 AI Act and Art. 17 GDPR', DOCUMENTS],
  ['EU AI Act, Article 11 of the MDR', { ...LOGS, 'MDR 10(8)': 3653 }],
  ['EU AI Act Art. 26(6), 17 CFR 240.17a-4(b)(4)', { ...LOGS, 'SEC 17a-4(b)': 1096 }],
  ['Colorado AI Act', { 'Colorado SB 26-189': 1096 }],
  ['Colorado’s Artificial Intelligence Act, C.R.S. 6-1-1703', { 'Colorado SB 26-189': 1096 }],
  ['Colorado’s new AI Act', null],
  ['the AI Act of Colorado', null],
  ['Texas AI Act', null],
  ['CO AI Act Art. 18', null],
  ['Korean AI Act', null],
  ['state AI Act', null],
  ['EU AI Act; Colorado AI Act', { ...LOGS, 'Colorado SB 26-189': 1096 }],
  ['C.R.S. 6-1-1703', { 'Colorado SB 26-189': 1096 }],
  ['SEC Rule 17a-4', { 'SEC 17a-4(a)': 2192, 'SEC 17a-4(b)': 1096 }],
  ['17 CFR 240.17a-4(b)(4)', { 'SEC 17a-4(b)': 1096 }],
  ['finra rule 4511', { 'FINRA 4511(b)': 2192 }],
  ['MiFID II', { 'MiFID II 16(7)': 1827 }],
  ['Regulation B', { 'Regulation B 1002.12(b)': 762 }],
  ['12 CFR 1002.12(b)', { 'Regulation B 1002.12(b)': 762 }],
  ['Regulation BI', null],
  ['MDR Article 10(8)', { 'MDR 10(8)': 3653 }],
  ['Regulation (EU) 2017/745, implantable device', { 'MDR 10(8), implantable devices': 5479 }],
  ['IVDR', { 'IVDR 10(7)': 3653 }],
  ['2 CCR § 11013(c)', { 'California 2 CCR 11013(c)': 1461 }],
  ['Cal. Code Regs., tit. 2, § 11013', { 'California 2 CCR 11013(c)': 1461 }],
  ['11 CCR 7155(c)', { 'California 11 CCR 7155(c)': 1827 }],
  ['GDPR Article 6(1)(f)', null],
  ['Annex IV', null],
  ['our own policy', null],
  ['', null],
];

for (const [words, minimum] of bases) {
  test(`the basis "${words}" asks for ${JSON.stringify(minimum)}`, () => {
    assert.equal(statutoryMinimumDays(words), minimum);
  });
}

test('GDPR is a basis, and sets no shortest period', () => {
  assert.equal(namedBases('GDPR Article 17(3)(b)'), [{ basis: 'GDPR', days: null, years: null }]);
});

test('a period of fewer days than calendar years can have is pointed out', () => {
  assert.is(statutoryMinimumDays(undefined), null);
  assert.equal(calendarWarnings(undefined, 1825), []);
  assert.equal(calendarWarnings('EU AI Act 26(6)', 1825), []);
  assert.equal(calendarWarnings('MiFID II', 1827), []);
  assert.equal(calendarWarnings('MiFID II', 1826), [
    'shorter-than-calendar-years: 1826 days are less than the 5 calendar years of MiFID II 16(7), which can be 1827 days',
  ]);
});

test('a lock that is longer than the longest rule it names, or that names none, is pointed out', () => {
  const told = (words: string | undefined, days: number, startsAt?: number) =>
    lockWarnings(words, { lockedAt: Date.UTC(2026, 0, 1), days, ...(startsAt === undefined ? {} : { startsAt }) });
  const codes = (...asked: Parameters<typeof told>) => told(...asked).map((text) => text.split(':')[0]);
  assert.equal(told('EU AI Act 26(6)', 1825), [
    'longer-than-named-basis: 1825 days are more than the 184 days that EU AI Act 19(1), 26(6) asks for; no lock of ' +
      'this service is shorter than 1825 days',
  ]);
  assert.equal(codes('EU AI Act Annex IV', 3653), []);
  assert.equal(codes('EU AI Act Annex IV', 3654), ['longer-than-named-basis']);
  assert.equal(codes('EU AI Act Annex IV', 3652), ['shorter-than-calendar-years']);
  assert.equal(codes('SEC 17a-4', 2192), []);
  assert.equal(codes('MiFID II, GDPR', 1827), []);
  assert.match(String(told('GDPR', 1825)), /^longer-than-named-basis: GDPR sets no shortest period/);
  assert.equal(codes('our own policy', 1825), []);
  for (const nothing of [undefined, '', ' \n']) assert.equal(codes(nothing, 1825), ['no-basis-given']);
  const longAgo = Date.UTC(2024, 0, 1);
  assert.match(String(told('MiFID II', 1827, longAgo)), /2556 days are more than the 1827 days/, 'by the floor');
  assert.equal(codes('MiFID II', 1827, Date.UTC(2026, 5, 1)), []);
});

test('years of the calendar are counted in the days of the longest such span', () => {
  const all =
    'EU AI Act 18(1), Annex XI, 17a-4, 4511, MiFID, MiFIR, RTS 6, SB 26-189, SB 24-205, MDR, IVDR, 2 CCR 11013, ' +
    '11 CCR 7155';
  const named = [...namedBases(all), ...namedBases('MDR implantable')];
  assert.is(named.length, 15);
  for (const { basis, years, days } of named) {
    if (years === null) continue;
    const spans = Array.from(
      { length: 8 },
      (_, i) => (Date.UTC(2020 + i + years, 0, 1) - Date.UTC(2020 + i, 0, 1)) / DAY_MS,
    );
    assert.is(days, Math.max(...spans), basis);
  }
});

test('any text is read in a short time', () => {
  const word = fc.constantFrom(
    'EU AI Act',
    'AI Act',
    'Art. 11',
    '(1)',
    ',',
    ' ',
    ';',
    'annex IV',
    'the ',
    '17a-4',
    'GDPR',
    '((',
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(word, fc.string({ maxLength: 6 })), { maxLength: 60 }), (words) => {
      const text = words.join('').slice(0, 500);
      const before = performance.now();
      const named = namedBases(text);
      assert.ok(performance.now() - before < 1000);
      assert.ok(named.every(({ days }) => days === null || days > 0));
    }),
  );
});

test.run();
