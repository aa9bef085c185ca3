import t from 'tap';
import { CHROMIUM, hasChromium } from '../../bench/chromium.ts';
import { onAccess } from './on-access.ts';
import { onEveryScreen } from './on-every-screen.ts';
import { onIdentity } from './on-identity.ts';
import { onLists } from './on-lists.ts';
import { onLongUse } from './on-long-use.ts';
import { startHouse } from './visit.ts';

/** Browser tests that visit many screens, and those of identity. All of them share one service and one browser. */

if (!hasChromium()) t.plan(0, `there is no browser at ${CHROMIUM}: set CHROMIUM to the path of one`);
else {
  const house = await startHouse(t);
  await t.test('users and keys', (t) => onAccess(t, house));
  await t.test('identity and rights', (t) => onIdentity(t, house));
  await t.test('every list', (t) => onLists(t, house));
  await t.test('every screen', (t) => onEveryScreen(t, house));
  await t.test('long use', (t) => onLongUse(t, house));
}
