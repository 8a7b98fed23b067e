import type { JsonObject } from '../../../protocol/json/value.ts';
import type { LostKeys } from '../../accounts/lost-key/lost-keys.ts';
import type { SecondFactors } from '../../accounts/second-factors/second-factors.ts';
import type { Section } from '../../pages/console-page.ts';
import type { PageRoute } from '../route.ts';
import type { Asker, ConsoleApi } from './console-api.ts';
import { consolePage, refused, signedInRoute } from './console-page.ts';
import { formPageRoutes, type FormPageServices } from './form-pages.ts';
import { ApiRefusal, type Look, type Screen } from './screen.ts';
import { SCREENS } from './screens.ts';
import { accountPageRoutes, type AccountPageServices } from './account-pages.ts';
import { mailStopRoutes, type MailStopServices } from './mail-stop.ts';
import { secondFactorPageRoutes, type SecondFactorPageServices } from './second-factor-pages.ts';
import { signInRoutes, type SignInServices } from './sign-in.ts';

export interface ConsoleServices
  extends AccountPageServices, FormPageServices, MailStopServices, SecondFactorPageServices, SignInServices {
  readonly lostKeys: LostKeys;
  readonly secondFactors: SecondFactors;
  readonly now: () => number;
}

/** The console: screens over the API for the people of an account. */
export function consoleRoutes(services: ConsoleServices): readonly PageRoute[] {
  return [
    ...accountPageRoutes(services),
    ...signInRoutes(services),
    ...mailStopRoutes(services),
    ...secondFactorPageRoutes(services),
    ...SCREENS.map((screen) => screenRoute(services, screen)),
    ...formPageRoutes(services),
  ];
}

function screenRoute(services: ConsoleServices, screen: Screen): PageRoute {
  const path = `/console${screen.path}`;
  return signedInRoute(services, 'GET', path, async ({ params, query }, asker) => {
    const look: Look = { params, query, now: services.now(), ask: (asked) => askFor(services.api, asker, asked) };
    const { title, sections } = await screen.show(look);
    const shown = await Promise.all(sections.map(shownOf));
    return consolePage(services, path, asker.signedIn, { title, screen: screen.name, sections: shown });
  });
}

async function askFor(api: ConsoleApi, asker: Asker, path: string): Promise<JsonObject> {
  const { status, body } = await api.ask(asker, { method: 'GET', path });
  if (status >= 300) throw new ApiRefusal(status, body);
  return body;
}

/** A part that the API says no to leaves the others as they are. */
async function shownOf(section: Promise<Section> | Section): Promise<Section> {
  try {
    return await section;
  } catch (error) {
    if (error instanceof ApiRefusal) return refused(error);
    throw error;
  }
}
