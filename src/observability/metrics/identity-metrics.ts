import { createCounter, createReading, type Families } from './families.ts';

/** Metrics of identity providers. Issuers are labeled with their id in the settings. */
export const createIdentityMetrics = (families: Families) => {
  const fetches = createCounter(families, ['issuer', 'result'], {
    suffix: 'auth_jwks_fetches_total',
    help: 'Fetches of the keys of an issuer of access tokens; `failed`: the known keys stay in use',
  });
  const succeededAt = new Map<string, number>();
  createReading(
    families,
    ['issuer'],
    { suffix: 'auth_jwks_age_seconds', help: 'Time since the keys of an issuer were fetched' },
    () => [...succeededAt].map(([issuer, at]) => [(performance.now() - at) / 1000, issuer]),
  );
  return {
    keysFetched(issuer: string, result: 'ok' | 'failed') {
      fetches.add(1, issuer, result);
      if (result === 'ok') succeededAt.set(issuer, performance.now());
    },
  };
};
