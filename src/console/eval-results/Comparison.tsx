import { type ReactNode, useMemo } from 'react';
import { FilterSelect } from '../design/Field.tsx';
import { Segmented } from '../design/Segmented.tsx';
import type { Fixture } from '../fixtures/dataset.ts';
import { useTexts } from '../i18n/locale.ts';
import { useQueryState } from '../list/use-query-state.ts';
import { CaseFacts } from './CaseFacts.tsx';
import { type Result, resultsOf, type Side } from './compare.ts';
import { Results } from './Results.tsx';
import { Banner, Breakdown, SideTotals } from './Totals.tsx';
import texts from './texts.json' with { type: 'json' };
import { type Sides, useSides } from './use-sides.ts';

/**
 * A set of results, compared with an earlier set or column by column: totals, then one row per test case. The reports
 * of files and the runs of the service share it.
 */

const NONE: ReadonlyMap<string, Fixture> = new Map();

/** Chooses the columns of both sides, and whether they are compared at all. */
const Controls = ({ sides }: { sides: Sides }) => {
  const t = useTexts(texts);
  const [{ view }, setQuery] = useQueryState();
  const { choice, isComparable } = sides;
  const select = (
    side: 'a' | 'b',
    { [side]: value, hasWhole }: NonNullable<Sides['choice']>,
    of: readonly string[],
  ) => (
    <FilterSelect
      label={side.toUpperCase()}
      value={value}
      options={[
        ...(hasWhole ? [['', t('columns.all')] as const] : []),
        ...of.map((column) => [column, column] as const),
      ]}
      onChange={(to) => setQuery({ [side]: to || undefined, item: undefined })}
    />
  );
  return (
    <>
      {choice && (
        <>
          {select('a', choice, choice.before)}
          {select('b', choice, choice.after)}
        </>
      )}
      {isComparable && (
        <Segmented
          label={t('view')}
          value={view === 'list' ? 'list' : 'sides'}
          options={(['sides', 'list'] as const).map((one) => [one, t(`view.${one}`)] as const)}
          onChange={(to) => setQuery({ view: to === 'list' ? to : undefined, item: undefined })}
        />
      )}
    </>
  );
};

export const Comparison = (props: {
  name: string;
  after: Side;
  before: Side | undefined;
  /** Test cases as they are in their dataset, by id. */
  fixtures?: ReadonlyMap<string, Fixture>;
  /** Actions on the results. */
  actions?: (results: readonly Result[]) => ReactNode;
  /** Further cards below the list. */
  children?: ReactNode;
}) => {
  const { fixtures = NONE } = props;
  const sides = useSides(props.after, props.before);
  const { after, before } = sides;
  const results = useMemo(() => resultsOf(after.items, before?.items), [after, before]);
  const names = useMemo(
    () => ({ labels: before ? [before.label, after.label] : [after.label], fixtures }),
    [after, before, fixtures],
  );
  return (
    <>
      {before && <Banner results={results} before={before} />}
      <SideTotals sides={before ? [before, after] : [after]} />
      {props.actions?.(results)}
      <Results
        name={props.name}
        results={results}
        names={names}
        tools={<Controls sides={sides} />}
        about={(result) => <CaseFacts result={result} fixture={fixtures.get(result.item.fixture_id)} />}
      />
      <div className="halves">
        {props.children}
        <Breakdown items={after.items} />
      </div>
    </>
  );
};
