import type { InstrumentType, RegStatus } from '../../../protocol/api/regwatch-words.ts';

/** What must hold: one of each list that is given. Phrases stand in title or summary as whole words. */
export interface Condition {
  readonly signs?: readonly string[];
  readonly phrases?: readonly string[];
  /** In the title alone. */
  readonly titlePhrases?: readonly string[];
  readonly jurisdictions?: readonly string[];
}

export interface Rule {
  readonly when: Condition;
  readonly jurisdictions?: readonly string[];
  readonly frameworks?: readonly string[];
  readonly instrumentType?: InstrumentType;
  readonly status?: RegStatus;
}

/** Changes with every change of a rule below; each item tells by which it was classified. */
export const RULE_SET = 'regwatch-rules/1';

/** Where an item comes from. */
const ORIGIN: readonly Rule[] = [
  { when: { signs: ['celex'] }, jurisdictions: ['EU'] },
  { when: { signs: ['fr'] }, jurisdictions: ['US'] },
];

/** Which frameworks of the catalogue it is about: only where it names one by number, or by a name of its own. */
const FRAMEWORKS: readonly Rule[] = [
  {
    when: {
      phrases: ['2024/1689', '2026/1744', 'eu ai act', 'eu artificial intelligence act', '32024r1689', '32026r1744'],
    },
    jurisdictions: ['EU'],
    frameworks: ['EU_AI_ACT'],
  },
  {
    when: { phrases: ['ai act', 'artificial intelligence act'], jurisdictions: ['EU'] },
    frameworks: ['EU_AI_ACT'],
  },
  {
    when: {
      phrases: [
        'mifid ii',
        'mifid 2',
        '2014/65/eu',
        'mifir',
        '600/2014',
        '2017/565',
        '2017/589',
        '2017/580',
        '2025/1155',
      ],
    },
    frameworks: ['MIFID_II'],
  },
  { when: { phrases: ['iso/iec 42001', 'iso 42001', 'iso/iec 42001:2023'] }, frameworks: ['ISO_42001'] },
  {
    when: {
      phrases: [
        'ai risk management framework',
        'artificial intelligence risk management framework',
        'ai rmf',
        'nist ai 100-1',
      ],
    },
    frameworks: ['NIST_AI_RMF'],
  },
  {
    when: { phrases: ['sr 26-2', 'occ bulletin 2026-13', 'fil-15-2026'] },
    jurisdictions: ['US'],
    frameworks: ['US_BANK_MRM'],
  },
  {
    when: { phrases: ['model risk management'], jurisdictions: ['US'] },
    frameworks: ['US_BANK_MRM'],
  },
  {
    when: { phrases: ['sr 11-7', 'sr letter 11-7', 'occ bulletin 2011-12'] },
    jurisdictions: ['US'],
    frameworks: ['US_BANK_MRM_2011'],
  },
  { when: { phrases: ['17a-4', '240.17a-4'] }, jurisdictions: ['US'], frameworks: ['SEC_17A4'] },
  {
    when: { phrases: ['finra', 'financial industry regulatory authority'] },
    jurisdictions: ['US'],
    frameworks: ['FINRA'],
  },
  {
    when: { phrases: ['sb 24-205', 'sb 26-189', 'colorado artificial intelligence act'] },
    jurisdictions: ['US', 'US-CO'],
    frameworks: ['US_STATE'],
  },
  {
    when: { phrases: ['local law 144', 'automated employment decision tools'] },
    jurisdictions: ['US', 'US-NY'],
    frameworks: ['US_STATE'],
  },
  {
    when: { phrases: ['traiga', 'texas responsible artificial intelligence governance act'] },
    jurisdictions: ['US', 'US-TX'],
    frameworks: ['US_STATE'],
  },
  {
    when: { phrases: ['transparency in frontier artificial intelligence act'] },
    jurisdictions: ['US', 'US-CA'],
    frameworks: ['US_STATE'],
  },
];

/** What kind of instrument it is. The first that holds counts. */
const INSTRUMENTS: readonly Rule[] = [
  { when: { signs: ['celex:3R'] }, instrumentType: 'regulation' },
  { when: { signs: ['celex:3L'] }, instrumentType: 'law' },
  { when: { signs: ['celex:6CJ', 'celex:6TJ', 'celex:6CO', 'celex:6TO'] }, instrumentType: 'court-order' },
  { when: { signs: ['fr:rule', 'fr:proposed rule'] }, instrumentType: 'regulation' },
  {
    when: {
      titlePhrases: [
        'consultation paper',
        'consultation on',
        'consults on',
        'call for evidence',
        'request for comment',
        'request for comments',
        'request for information',
      ],
    },
    instrumentType: 'consultation',
  },
  {
    when: {
      titlePhrases: ['final notice', 'fines', 'fined', 'enforcement action', 'cease and desist', 'civil penalty'],
    },
    instrumentType: 'enforcement',
  },
  {
    when: { titlePhrases: ['guidelines', 'guidance', 'q&a', 'questions and answers', 'supervisory briefing'] },
    instrumentType: 'guidance',
  },
  {
    when: { titlePhrases: ['iso/iec', 'cen-cenelec', 'harmonised standard', 'harmonised standards'] },
    instrumentType: 'standard',
  },
];

/** Where it stands. The first that holds counts. */
const STATUSES: readonly Rule[] = [
  { when: { signs: ['fr'], titlePhrases: ['withdrawal of proposed rule', 'withdrawal'] }, status: 'withdrawn' },
  {
    when: {
      signs: [
        'fr-action:proposed rule; withdrawal',
        'fr-action:withdrawal of proposed rule',
        'fr-action:withdrawal of notice of proposed rulemaking',
      ],
    },
    status: 'withdrawn',
  },
  {
    when: {
      signs: [
        'fr-action:final rule; delay of effective date',
        'fr-action:delay of effective date',
        'fr-action:final rule; delay of compliance date',
      ],
    },
    status: 'postponed',
  },
  {
    when: { signs: ['fr:rule'], titlePhrases: ['delay of effective date', 'delay of compliance date'] },
    status: 'postponed',
  },
  {
    when: {
      signs: ['fr-action:final rule; stay', 'fr-action:administrative stay', 'fr-action:stay of effective date'],
    },
    status: 'stayed',
  },
  { when: { signs: ['fr:proposed rule'] }, status: 'proposed' },
  { when: { signs: ['fr:rule'] }, status: 'adopted' },
  { when: { signs: ['celex:5PC', 'celex:5DC'] }, status: 'proposed' },
  { when: { signs: ['celex:3R', 'celex:3L', 'celex:3D'] }, status: 'adopted' },
  {
    when: {
      titlePhrases: [
        'consultation paper',
        'consultation on',
        'consults on',
        'call for evidence',
        'request for comment',
        'request for comments',
      ],
    },
    status: 'proposed',
  },
];

/** In the order in which they are applied: a later rule may ask for a jurisdiction that an earlier one gave. */
export const RULES: readonly Rule[] = [...ORIGIN, ...FRAMEWORKS, ...INSTRUMENTS, ...STATUSES];
