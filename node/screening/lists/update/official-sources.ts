import type { ListId } from '../list-id.ts';

const OFAC = 'https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports';

/**
 * Where the publishers give out their lists, as of 2026, in the files that are read here. The token of the EU's address
 * is the same for everyone.
 */
export const OFFICIAL_SOURCES: Readonly<Record<ListId, Readonly<Record<string, string>>>> = {
  'us-ofac-sdn': {
    'sdn.csv': `${OFAC}/SDN.CSV`,
    'alt.csv': `${OFAC}/ALT.CSV`,
    'add.csv': `${OFAC}/ADD.CSV`,
    'sdn_comments.csv': `${OFAC}/SDN_COMMENTS.CSV`,
  },
  'us-ofac-consolidated': {
    'cons_prim.csv': `${OFAC}/CONS_PRIM.CSV`,
    'cons_alt.csv': `${OFAC}/CONS_ALT.CSV`,
    'cons_add.csv': `${OFAC}/CONS_ADD.CSV`,
    'cons_comments.csv': `${OFAC}/CONS_COMMENTS.CSV`,
  },
  'un-sc-consolidated': {
    'consolidated.xml': 'https://scsanctions.un.org/resources/xml/en/consolidated.xml',
  },
  'uk-sanctions-list': {
    'UK-Sanctions-List.csv': 'https://sanctionslist.fcdo.gov.uk/docs/UK-Sanctions-List.csv',
  },
  'eu-consolidated': {
    'xmlFullSanctionsList_1_1.xml':
      'https://webgate.ec.europa.eu/fsd/fsf/public/files/xmlFullSanctionsList_1_1/content?token=dG9rZW4tMjAxNw',
  },
  'us-bis-entity-list': {
    'consolidated.csv': 'https://data.trade.gov/downloadable_consolidated_screening_list/v1/consolidated.csv',
  },
};
