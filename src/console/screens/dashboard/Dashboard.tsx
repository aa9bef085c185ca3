import { FilterSelect } from '../../design/Field.tsx';
import { Page } from '../../design/Layout.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { AgentActivity } from './AgentActivity.tsx';
import css from './Dashboard.module.css';
import { Health } from './Health.tsx';
import { ActionNeeded, FirstSteps } from './Needed.tsx';
import { Recent } from './Recent.tsx';
import { RANGES, rangeOf, rangeText } from './range.ts';
import { Counts, SystemStrip } from './Strips.tsx';
import { texts } from './texts.ts';
import { Workload } from './Workload.tsx';

/** Each card reads for itself, so that one that fails fails alone. */
export default function Dashboard() {
  const t = useTexts(texts);
  const [query, setQuery] = useQueryState();
  const range = rangeOf(query.range);
  return (
    <Page
      title={t('title')}
      purpose={t('purpose')}
      actions={
        <FilterSelect
          label={t('range')}
          value={range}
          options={RANGES.map((one): [string, string] => [one, t(`range.${one}`)])}
          onChange={(value) => setQuery({ range: rangeText(value) })}
        />
      }
    >
      <div className={css.grid}>
        <ActionNeeded />
        <FirstSteps />
        <Workload />
        <AgentActivity />
        <Recent range={range} />
        <Health />
        <Counts />
      </div>
      <SystemStrip />
    </Page>
  );
}
