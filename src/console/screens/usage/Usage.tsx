import { useMemo } from 'react';
import { StatTable } from '../../activity/StatTable.tsx';
import { list, object, text } from '../../data/guard.ts';
import { useIdentity } from '../../data/identity.ts';
import { mayUse } from '../../data/principal.ts';
import { useResource } from '../../data/queries.ts';
import { Button } from '../../design/Button.tsx';
import { CheckField, FilterSelect } from '../../design/Field.tsx';
import { Card, Page, Stat } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Notice } from '../../design/Notice.tsx';
import { Segmented } from '../../design/Segmented.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { download } from '../../list/download.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { UserLink } from '../users/UserLink.tsx';
import texts from './texts.json' with { type: 'json' };
import css from './Usage.module.css';
import {
  csvOf,
  firstDay,
  PERIODS,
  PROPERTIES,
  type Property,
  periodIn,
  propertiesIn,
  sumOf,
  type UsageItem,
  usageOf,
} from './usage.ts';

const scopes = { path: '/v1/scopes', guard: object({ items: list(text) }) };

/** The scope, for a principal that may read several. */
const ScopeFilter = () => {
  const t = useTexts(texts);
  const who = useIdentity().data;
  const isAdmin = who?.authenticated === true && mayUse(who, ['admin']);
  const { items = [] } = useResource(scopes, isAdmin).data ?? {};
  const [{ scope }, setQuery] = useQueryState();
  const own = who?.scope ?? '';
  const names = [...new Set([own, ...items, ...(scope ? [scope] : [])])].sort();
  if (!isAdmin || names.length < 2) return null;
  return (
    <FilterSelect
      label={t('scope')}
      value={scope ?? own}
      options={names.map((name) => [name, name])}
      onChange={(name) => setQuery({ scope: name === own ? undefined : name })}
    />
  );
};

const ByBar = ({ by }: { by: readonly Property[] }) => {
  const t = useTexts(texts);
  const [, setQuery] = useQueryState();
  const turn = (property: Property, isOn: boolean): void => {
    const next = PROPERTIES.filter((each) => (each === property ? isOn : by.includes(each)));
    setQuery({ by: next.join(',') === 'agent' ? undefined : next.join(',') || 'none' });
  };
  return (
    <fieldset className={`row ${css.by}`}>
      <legend>{t('by')}</legend>
      {PROPERTIES.map((property) => (
        <CheckField
          key={property}
          label={t(`by.${property}`)}
          checked={by.includes(property)}
          onChange={(isOn) => turn(property, isOn)}
        />
      ))}
    </fieldset>
  );
};

const Totals = ({ items }: { items: readonly UsageItem[] }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const usd = sumOf(items, 'usd');
  return (
    <div className="tiles">
      <Stat
        label={t('common.cost')}
        value={usd === 0 ? t('common.na') : format.usd(usd)}
        note={t('figure.usdNote')}
      />
      <Stat label={t('common.runs')} value={format.number(sumOf(items, 'runs'))} />
      <Stat label={t('figure.inferences')} value={format.number(sumOf(items, 'inferences'))} />
      <Stat label={t('figure.input_tokens')} value={format.compact(sumOf(items, 'input_tokens'))} />
      <Stat label={t('figure.output_tokens')} value={format.compact(sumOf(items, 'output_tokens'))} />
    </div>
  );
};

const nameOf = (item: UsageItem, property: Property): string => item[property] ?? '';

const Name = ({ item, property }: { item: UsageItem; property: Property }) => {
  const t = useTexts(texts);
  const value = nameOf(item, property);
  if (value === '~anonymous') return <>{t('common.noUser')}</>;
  if (value === '~admin') return <>{t('user.admin')}</>;
  if (value === '') return <>—</>;
  if (property === 'user') return <UserLink id={value} />;
  if (property === 'agent')
    return <ScreenLink to={`/agents/${encodeURIComponent(value)}`}>{value}</ScreenLink>;
  return <>{value}</>;
};

const MOST_ROWS = 100;

const Figures = ({ items, by }: { items: readonly UsageItem[]; by: readonly Property[] }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const key = (item: UsageItem): string => JSON.stringify(by.map((property) => nameOf(item, property)));
  return (
    <StatTable
      label={t('title')}
      rows={items}
      rowId={key}
      none={t('none')}
      most={MOST_ROWS}
      names={Math.max(1, by.length)}
      sortedBy={by.length === 1 && by[0] === 'day' ? 0 : by.length}
      columns={(column) => [
        ...by.map((property) =>
          column(
            t(`by.${property}`),
            (item) => nameOf(item, property),
            (_, item) => <Name item={item} property={property} />,
          ),
        ),
        column(
          t('common.cost'),
          ({ usd }) => usd,
          // The service cannot price models without a price, which are not free.
          (usd) => (usd === 0 ? '—' : format.usd(usd)),
          'bar',
        ),
        column(t('common.runs'), ({ runs }) => runs, format.number),
        column(t('figure.inferences'), ({ inferences }) => inferences, format.number),
        column(t('figure.input_tokens'), (item) => item.input_tokens, format.number),
        column(t('figure.output_tokens'), (item) => item.output_tokens, format.number),
      ]}
    />
  );
};

export default function Usage() {
  const t = useTexts(texts);
  const [query, setQuery] = useQueryState();
  const by = useMemo(() => propertiesIn(query.by), [query.by]);
  const period = periodIn(query.period);
  const usage = useResource(usageOf({ by, since: firstDay(period, Date.now()), of_scope: query.scope }));
  const { user } = query;
  const shown = (items: readonly UsageItem[]): readonly UsageItem[] =>
    user === undefined || !by.includes('user') ? items : items.filter((item) => item.user === user);
  const save = (): void =>
    download(`usage-${period}.csv`, 'text/csv', csvOf(shown(usage.data?.items ?? []), by));
  return (
    <Page
      title={t('title')}
      purpose={t('purpose')}
      actions={
        <>
          <Segmented
            label={t('period')}
            value={period}
            options={PERIODS.map((each) => [each, t(`period.${each}`)])}
            onChange={(next) => setQuery({ period: next === '30d' ? undefined : next })}
          />
          <Button icon="download" disabled={!usage.data?.items.length} onClick={save}>
            {t('common.exportCsv')}
          </Button>
        </>
      }
    >
      <div className="row">
        <ByBar by={by} />
        <ScopeFilter />
        {user !== undefined && by.includes('user') && (
          <Button small icon="close" title={t('user.all')} onClick={() => setQuery({ user: undefined })}>
            {t('user.only', { user })}
          </Button>
        )}
      </div>
      <Loaded query={usage} off={{ statuses: [404] }}>
        {({ items, next_cursor }) => (
          <>
            {next_cursor !== undefined && <Notice tone="warn" title={t('incomplete')} />}
            <Totals items={shown(items)} />
            <Card title={t('table')} flush>
              <Figures key={by.join()} items={shown(items)} by={by} />
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}
