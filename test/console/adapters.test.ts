import t from 'tap';
import { adaptersIn, FEATURED } from '../../src/console/connect-model/adapters.ts';
import { ADAPTER_DEFAULTS } from '../../src/models/provider.ts';
import type { JsonObject } from '../../src/schema/json.ts';

t.test('offers the services that are shown first, and no variant of one', (t) => {
  const defaults: JsonObject = JSON.parse(JSON.stringify(ADAPTER_DEFAULTS));
  const { featured, others } = adaptersIn(defaults);
  t.strictSame(
    featured.map(({ id }) => id),
    FEATURED,
  );
  const ids = new Set(others.map(({ id }) => id));
  t.ok(ids.has('cohere'));
  t.notOk(ids.has('openai_resp'));
  t.end();
});
