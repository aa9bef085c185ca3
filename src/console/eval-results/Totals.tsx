import { Card } from '../design/Layout.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { FigureTable } from '../list/FigureTable.tsx';
import {
  blocks,
  passRateOf,
  type Result,
  type Side,
  type Totals,
  toolUseOf,
  totalsOf,
  type Verdict,
} from './compare.ts';
import type { Item } from './report.ts';
import texts from './texts.json' with { type: 'json' };

/** The results of one or two sets in figures. */

const VERDICTS: readonly Verdict[] = ['better', 'same', 'changed', 'worse', 'missing', 'new'];

/** The answer to the question whether side B is as good as side A. */
export const Banner = ({ results, before }: { results: readonly Result[]; before: Side }) => {
  const t = useTexts(texts);
  const count = results.filter(blocks).length;
  const verdict = count > 0 ? 'blocking' : 'clean';
  return (
    <p
      className="row inset tint"
      data-tone={count > 0 ? 'error' : 'success'}
      role="status"
      data-testid="eval-diff-banner"
      data-verdict={verdict}
    >
      <strong>{t(`verdict.${verdict}`, { count, before: before.label })}</strong>
      {VERDICTS.map((one) => [one, results.filter((result) => result.verdict === one).length] as const)
        .filter(([, many]) => many > 0)
        .map(([one, many]) => (
          <span key={one}>
            {t(`verdict.${one}`)} {many}
          </span>
        ))}
    </p>
  );
};

/** `−42%` against the other side; nothing without a base. */
const useChange = () => {
  const format = useFormat();
  return (now: number | undefined, before: number | undefined): string => {
    if (now === undefined || before === undefined || before === 0 || now === before) return '';
    const share = now / before - 1;
    return ` ${share > 0 ? '+' : '−'}${format.percent(Math.abs(share))}`;
  };
};

export const SideTotals = ({ sides }: { sides: readonly Side[] }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const change = useChange();
  const all = sides.map(({ label, items }) => ({ label, totals: totalsOf(items) }));
  const hasUnplayable = all.some(({ totals }) => totals.counts.unplayable > 0);
  const [first] = all;
  const isCompared = all.length > 1;
  const figures = (totals: Totals, base: Totals | undefined) => {
    const { counts, tokens, durationMs, cost } = totals;
    const rate = passRateOf(totals);
    const changed = (of: (side: Totals) => number | undefined) => (
      <small className="quiet">{base && change(of(totals), of(base))}</small>
    );
    return [
      <strong key="rate">{rate === undefined ? '—' : format.percent(rate)}</strong>,
      format.number(counts.passed),
      <span key="failed" className={counts.failed > 0 ? 'bad' : undefined}>
        {format.number(counts.failed)}
      </span>,
      ...(hasUnplayable ? [format.number(counts.unplayable)] : []),
      <span key="cost">
        {format.usd(cost)}
        {changed((side) => side.cost)}
      </span>,
      <span key="duration">
        {format.duration(durationMs)}
        {changed((side) => side.durationMs)}
      </span>,
      <span key="tokens">
        {format.compact(tokens.input)} / {format.compact(tokens.output)}
        {changed((side) => side.tokens.input + side.tokens.output)}
      </span>,
    ];
  };
  return (
    <div className="card clip">
      <FigureTable
        label={t('totals')}
        columns={[
          t('totals'),
          t('common.passRate'),
          t('passed'),
          t('failed'),
          ...(hasUnplayable ? [t('unplayable')] : []),
          t('column.cost'),
          t('column.duration'),
          t('total.tokens'),
        ]}
        rows={all.map(({ label, totals }, place) => ({
          key: `${place}`,
          name: isCompared ? `${place === 0 ? 'A' : 'B'} · ${label}` : label,
          figures: figures(totals, place > 0 ? first?.totals : undefined),
        }))}
      />
    </div>
  );
};

/** Failures by kind and calls by tool, of one set. */
export const Breakdown = ({ items }: { items: readonly Item[] }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { failures } = totalsOf(items);
  const uses = toolUseOf(items);
  return (
    <>
      {failures.size > 0 && (
        <Card title={t('failures.byKind')} flush>
          <FigureTable
            label={t('failures.byKind')}
            columns={[t('failures.kind'), t('tools.fixtures')]}
            rows={Array.from(failures, ([kind, count]) => ({
              key: kind,
              name: <code>{kind}</code>,
              figures: [format.number(count)],
            }))}
          />
        </Card>
      )}
      {uses.length > 0 && (
        <Card title={t('common.toolCalls')} flush>
          <FigureTable
            label={t('common.toolCalls')}
            columns={[t('common.tool'), t('common.calls'), t('failed'), t('tools.fixtures')]}
            rows={uses.map(({ agent, tool, calls, failures: failed, fixtures }) => ({
              key: `${agent} ${tool}`,
              name: (
                <>
                  <code>{tool}</code> <span className="quiet">{agent}</span>
                </>
              ),
              figures: [calls, failed, fixtures].map(format.number),
            }))}
          />
        </Card>
      )}
    </>
  );
};
