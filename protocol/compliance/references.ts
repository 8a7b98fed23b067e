/** What each kind of record is evidence for, in the words of the clauses it is filed under (api-rules §4.2, §9). */
const ISO_STANDARD = 'ISO/IEC 42001:2023';

export const SESSION_REFERENCES = { articles: ['12(3)(a)'] };
export const OVERRIDE_REFERENCES = { articles: ['12(3)(d)', '14'] };
export const INCIDENT_REFERENCES = { articles: ['73'] };

/** Art. 26(5) by the interface specification; logs are kept under 26(6) and 19(1), documents under 18(1). */
export const LOCK_REFERENCES = { articles: ['26(5)'], relatedArticles: ['26(6)', '19(1)', '18(1)'] };

/** `isoClause` is the clause that the interface specification names, `isoClauses` are the ones of the standard. */
export const RISK_REFERENCES = {
  isoClause: '6.1',
  isoClauses: ['6.1.2', '8.2'],
  standard: ISO_STANDARD,
  articles: ['9'],
};
/** Art. 9, of providers, is the specification's; the fundamental rights assessment of deployers is Art. 27. */
export const IMPACT_REFERENCES = {
  isoClause: '8.2',
  isoClauses: ['6.1.4', '8.4'],
  standard: ISO_STANDARD,
  articles: ['9'],
  relatedArticles: ['27'],
};
/** Art. 17 and 73 are the specification's; the corrective action itself is Art. 20. */
export const ACTION_REFERENCES = {
  isoClause: '10.1',
  isoClauses: ['10.2'],
  standard: ISO_STANDARD,
  articles: ['17', '73'],
  relatedArticles: ['20'],
};
