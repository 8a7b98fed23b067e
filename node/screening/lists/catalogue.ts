import type { ListId } from './list-id.ts';
import { cslCsv } from './formats/csl-csv.ts';
import { euCsv } from './formats/eu-csv.ts';
import { euXml } from './formats/eu-xml.ts';
import type { ListFormat } from './formats/format.ts';
import { ofacCsv } from './formats/ofac-csv.ts';
import { ukCsv } from './formats/uk-csv.ts';
import { unXml } from './formats/un-xml.ts';

export interface ListDescription {
  readonly authority: string;
  readonly title: string;
  /** The official forms that are read; the first whose files are all there is taken. */
  readonly formats: readonly ListFormat[];
}

export const LISTS: Readonly<Record<ListId, ListDescription>> = {
  'us-ofac-sdn': {
    authority: 'US Department of the Treasury, Office of Foreign Assets Control',
    title: 'Specially Designated Nationals and Blocked Persons List',
    formats: [ofacCsv({ main: 'sdn.csv', aliases: 'alt.csv', addresses: 'add.csv', comments: 'sdn_comments.csv' })],
  },
  'us-ofac-consolidated': {
    authority: 'US Department of the Treasury, Office of Foreign Assets Control',
    title: 'Consolidated Sanctions List (Non-SDN)',
    formats: [
      ofacCsv({
        main: 'cons_prim.csv',
        aliases: 'cons_alt.csv',
        addresses: 'cons_add.csv',
        comments: 'cons_comments.csv',
      }),
    ],
  },
  'un-sc-consolidated': {
    authority: 'United Nations Security Council',
    title: 'Consolidated List',
    formats: [unXml],
  },
  'uk-sanctions-list': {
    authority: 'UK Foreign, Commonwealth and Development Office',
    title: 'UK Sanctions List',
    formats: [ukCsv],
  },
  'eu-consolidated': {
    authority: 'European Commission',
    title: 'Consolidated list of persons, groups and entities subject to EU financial sanctions',
    formats: [euXml, euCsv],
  },
  'us-bis-entity-list': {
    authority: 'US Department of Commerce, Bureau of Industry and Security',
    title: 'Entity List, Denied Persons List, Unverified List and Military End User List',
    formats: [cslCsv],
  },
};
