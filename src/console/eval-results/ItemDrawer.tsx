import type { ReactNode } from 'react';
import { redactText } from '../data/redact-text.ts';
import { IconButton } from '../design/Button.tsx';
import { Drawer } from '../design/Dialog.tsx';
import { Facts, Section } from '../design/Layout.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { FigureTable } from '../list/FigureTable.tsx';
import { TraceView } from '../run-view/RunView.tsx';
import type { Result } from './compare.ts';
import { failureText } from './failure-text.ts';
import { cellText, type Failure } from './report.ts';
import texts from './texts.json' with { type: 'json' };

/** One result in detail: the response, the expectations and the failures. */

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

const Sequence = ({ failure }: { failure: Failure }) => {
  const t = useTexts(texts);
  const [expected, actual] = [textsIn(failure.expected), textsIn(failure.actual)];
  const rows = Array.from({ length: Math.max(expected.length, actual.length) }, (_, place) => ({
    key: String(place),
    name: <code>{expected[place] ?? '—'}</code>,
    figures: [<code key="actual">{actual[place] ?? '—'}</code>],
    isWrong: expected[place] !== actual[place],
  }));
  return (
    <Section title={t('item.tools')}>
      <FigureTable
        label={t('item.tools')}
        columns={[t('item.expected'), t('item.actual')]}
        rows={rows}
        hasTexts
      />
    </Section>
  );
};

export const ItemDrawer = (props: {
  result: Result;
  about?: ReactNode;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { item, entry, isGone } = props.result;
  const { report } = item;
  const sequence = report.failures.find(({ kind }) => kind === 'tool_sequence_mismatch');
  return (
    <Drawer
      title={t('item.title', { fixture: item.fixture_id })}
      onClose={props.onClose}
      actions={
        <>
          <IconButton
            small
            icon="arrowUp"
            label={t('item.previous')}
            disabled={!props.onPrevious}
            onClick={props.onPrevious}
          />
          <IconButton
            small
            icon="arrowDown"
            label={t('item.next')}
            disabled={!props.onNext}
            onClick={props.onNext}
          />
        </>
      }
    >
      {isGone && <p className="bad">{t('item.gone')}</p>}
      {report.failures.length > 0 && (
        <Section title={t('item.failures')}>
          <ul className="stack">
            {report.failures.map((failure) => (
              <li key={JSON.stringify(failure)} className="bad">
                {failureText(failure, t)}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {entry?.kind === 'drift' && (
        <p>
          {t('item.fields')}: <code>{entry.fields.join(', ')}</code>
        </p>
      )}
      {props.about}
      {sequence && <Sequence failure={sequence} />}
      {report.judge_reasoning && (
        <Section title={t('item.judge')}>
          <p>{redactText(report.judge_reasoning)}</p>
        </Section>
      )}
      <Section title={t('item.facts')}>
        <Facts
          rows={[
            [t('column.cell'), cellText(item) || '—'],
            [
              t('total.tokens'),
              `${format.number(report.total_input_tokens)} / ${format.number(report.total_output_tokens)}`,
            ],
            [t('column.duration'), format.duration(report.session_duration_ms)],
            [t('column.cost'), format.usd(report.cost_usd)],
            report.judge_cost_usd !== undefined && [t('item.judgeCost'), format.usd(report.judge_cost_usd)],
            [t('column.judge'), report.judge_score?.toFixed(2) ?? '—'],
            [t('common.inferences'), format.number(report.inference_count)],
            [
              t('common.toolCalls'),
              `${format.number(report.tool_count)} (${format.number(report.tool_failures)})`,
            ],
          ]}
        />
      </Section>
      {item.trace_run_id !== undefined && (
        <Section title={t('item.trace')}>
          <TraceView id={item.trace_run_id} />
        </Section>
      )}
    </Drawer>
  );
};
