import { type ReactNode, useMemo } from 'react';
import { Markdown } from '../chat/markdown/Markdown.tsx';
import { redactText } from '../data/redact-text.ts';
import { Diff } from '../design/Diff.tsx';
import { FilterSelect } from '../design/Field.tsx';
import { Section } from '../design/Layout.tsx';
import { Segmented } from '../design/Segmented.tsx';
import { type Fixture, recordedAnswer } from '../fixtures/dataset.ts';
import { expectationsOf } from '../fixtures/expectations.ts';
import fixtureTexts from '../fixtures/texts.json' with { type: 'json' };
import { useTexts } from '../i18n/locale.ts';
import { useQueryState } from '../list/use-query-state.ts';
import { type Result, resultsOf, type Side } from './compare.ts';
import css from './EvalResults.module.css';
import { Results } from './Results.tsx';
import { Banner, Breakdown, SideTotals } from './Totals.tsx';
import texts from './texts.json' with { type: 'json' };
import { type Sides, useSides } from './use-sides.ts';

/**
 * A set of results, compared with an earlier set or column by column: totals, then one row per test case. The reports
 * of files and the runs of the service share it.
 */

/** The input and the expectations of a test case, and its answers next to each other. */
const CaseFacts = ({ result, fixture }: { result: Result; fixture: Fixture | undefined }) => {
  const t = useTexts(texts);
  const say = useTexts(fixtureTexts);
  const expectations = fixture ? expectationsOf(fixture.expect, say) : [];
  return (
    <>
      {fixture && (
        <Section title={t('common.input')}>
          <div className="well">{redactText(fixture.user_input)}</div>
        </Section>
      )}
      {expectations.length > 0 && (
        <Section title={t('item.expectation')}>
          <ul>
            {expectations.map((sentence) => (
              <li key={sentence}>{redactText(sentence)}</li>
            ))}
          </ul>
        </Section>
      )}
      <Answers result={result} recorded={fixture && recordedAnswer(fixture)} />
    </>
  );
};

/** The answer next to the one it is compared with: that of the other side, or else the recorded one. */
const Answers = ({ result, recorded }: { result: Result; recorded: string | undefined }) => {
  const t = useTexts(texts);
  const now = result.isGone ? undefined : result.item.report.final_text;
  const before = result.before?.report.final_text ?? recorded;
  const sides = [
    [t(result.before ? 'item.answerA' : 'item.recorded'), before],
    [t(result.before ? 'item.answerB' : 'item.answer'), now],
  ] as const;
  return (
    <>
      <div className={css.answers}>
        {sides.map(([title, said]) =>
          said === undefined ? null : (
            <Section key={title} title={title}>
              <div className="well">
                {said === '' ? t('item.noAnswer') : <Markdown text={redactText(said)} />}
              </div>
            </Section>
          ),
        )}
      </div>
      {before !== undefined && now !== undefined && before !== now && (
        <details className="section">
          <summary>{t('item.answerDiff')}</summary>
          <Diff before={{ answer: before }} after={{ answer: now }} />
        </details>
      )}
    </>
  );
};

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
  actions?: (results: readonly Result[]) => ReactNode;
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
