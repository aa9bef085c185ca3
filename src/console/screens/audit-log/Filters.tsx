import { Popover } from '@mantine/core';
import { useAtom } from '../../data/use-atom.ts';
import { Button } from '../../design/Button.tsx';
import { CheckField, controlLook, FilterSelect } from '../../design/Field.tsx';
import { useTexts, zone } from '../../i18n/locale.ts';
import { TextFilter } from '../../list/TextFilter.tsx';
import { useQueryState } from '../../list/use-query-state.ts';
import css from './AuditLog.module.css';
import { ACTIONS, fromField, SPANS, toField } from './audit-event.ts';
import { texts } from './texts.ts';

export const FILTER_KEYS = ['since', 'until', 'action', 'resource', 'actor'] as const;

const Actions = () => {
  const t = useTexts(texts);
  const [query, setQuery] = useQueryState();
  const chosen = (query.action ?? '').split(',').filter(Boolean);
  const toggle = (action: string, isChosen: boolean): void => {
    const rest = chosen.filter((other) => other !== action);
    setQuery({ action: (isChosen ? [...rest, action] : rest).join(',') || undefined });
  };
  return (
    <Popover position="bottom-start" trapFocus>
      <Popover.Target>
        <Button icon="filter">
          {t('filter.actions')}
          {chosen.length > 0 && ` (${chosen.length})`}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <div className={css.choices}>
          {ACTIONS.map((action) => (
            <CheckField
              key={action}
              label={t(`action.${action}`)}
              checked={chosen.includes(action)}
              onChange={(checked) => toggle(action, checked)}
            />
          ))}
        </div>
      </Popover.Dropdown>
    </Popover>
  );
};

/** Explicit bounds, for ranges that no preset covers. */
const CustomRange = () => {
  const t = useTexts(texts);
  const where = useAtom(zone);
  const [query, setQuery] = useQueryState();
  const field = (key: 'since' | 'until') => (
    <label>
      {t(`filter.${key}`)}{' '}
      <input
        className={controlLook}
        type="datetime-local"
        value={toField(query[key], where, Date.now())}
        onChange={(event) => setQuery({ [key]: fromField(event.target.value, where) })}
      />
    </label>
  );
  return (
    <>
      {field('since')}
      {field('until')}
    </>
  );
};

const RANGES = ['1h', '24h', '7d'] as const;

const Range = () => {
  const t = useTexts(texts);
  const [query, setQuery] = useQueryState();
  const isCustom =
    query.until !== undefined || (query.since !== undefined && SPANS[query.since] === undefined);
  const choose = (value: string): void => {
    const since =
      value === 'custom' ? new Date(Date.now() - (SPANS['24h'] ?? 0)).toISOString() : value || undefined;
    setQuery({ since, until: undefined });
  };
  return (
    <>
      <FilterSelect
        label={t('filter.range')}
        value={isCustom ? 'custom' : (query.since ?? '')}
        options={[
          ['', t('range.all')],
          ...RANGES.map((range): [string, string] => [range, t(`range.${range}`)]),
          ['custom', t('range.custom')],
        ]}
        onChange={choose}
      />
      {isCustom && <CustomRange />}
    </>
  );
};

/** Filters apply as soon as they change; the search button only reloads. */
export const Filters = ({ resources, onSearch }: { resources: readonly string[]; onSearch: () => void }) => {
  const t = useTexts(texts);
  const [, setQuery] = useQueryState();
  const clear = (): void => setQuery(Object.fromEntries(FILTER_KEYS.map((key) => [key, undefined])));
  return (
    <form
      className={css.filters}
      onSubmit={(event) => {
        event.preventDefault();
        onSearch();
      }}
    >
      <Range />
      <Actions />
      <TextFilter name="resource" label={t('filter.resource')} options={resources} />
      <TextFilter name="actor" label={t('filter.actor')} title={t('filter.actorNote')} />
      <Button type="submit">{t('apply.search')}</Button>
      <Button tone="quiet" onClick={clear}>
        {t('apply.clear')}
      </Button>
    </form>
  );
};
