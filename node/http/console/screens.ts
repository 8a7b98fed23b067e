import type { Screen } from './screen.ts';
import {
  agentsScreen,
  auditLogScreen,
  keysScreen,
  peopleScreen,
  usageScreen,
  webhookScreen,
  webhooksScreen,
} from './screens/account.ts';
import { frameworkScreen, frameworksScreen, packsScreen, retentionScreen, sourceScreen } from './screens/evidence.ts';
import {
  assessmentsScreen,
  comparedScreen,
  oversightScreen,
  registerScreen,
  systemsScreen,
} from './screens/governance.ts';
import { incidentScreen, incidentsScreen } from './screens/incidents.ts';
import { overviewScreen } from './screens/overview.ts';
import { recordScreen, recordsScreen, sessionsScreen } from './screens/records.ts';

/** All screens of the console. */
export const SCREENS: readonly Screen[] = [
  overviewScreen,
  recordsScreen,
  recordScreen,
  systemsScreen,
  registerScreen,
  sourceScreen,
  sessionsScreen,
  oversightScreen,
  incidentsScreen,
  incidentScreen,
  assessmentsScreen,
  comparedScreen,
  retentionScreen,
  frameworksScreen,
  frameworkScreen,
  packsScreen,
  agentsScreen,
  keysScreen,
  webhooksScreen,
  webhookScreen,
  auditLogScreen,
  usageScreen,
  peopleScreen,
];
