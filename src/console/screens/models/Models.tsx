import { type ReactNode, useCallback, useMemo } from 'react';
import { ConnectButton, ConnectDialog } from '../../connect-model/ConnectDialog.tsx';
import { useResource } from '../../data/queries.ts';
import { idsOf } from '../../data/records.ts';
import { capabilities, type ModelFigures, NOTHING_KNOWN } from '../../data/resources.ts';
import { Button } from '../../design/Button.tsx';
import { Dot } from '../../design/Chip.tsx';
import { type EntryDescriptor, useEntryForm } from '../../entry/EntryFields.tsx';
import { EntryScreen } from '../../entry/EntryScreen.tsx';
import { useEntryRows } from '../../entry/use-entries.ts';
import type { EntryForm } from '../../entry/use-entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import type { ColumnsOf } from '../../list/use-columns.tsx';
import { MODEL_FIELDS, MODEL_UI } from '../../model-settings/model-fields.ts';
import settingTexts from '../../model-settings/texts.json' with { type: 'json' };
import { ScreenLink } from '../../navigation/links.tsx';
import { ModelTest } from './ModelTest.tsx';
import { check, defaultsOf, LIMITS, MODELS, type Model, PART_PRICES, PRICES } from './model.ts';
import texts from './texts.json' with { type: 'json' };

/**
 * Figures that the service has for the model of the draft. They are available only if a stored entry names the same
 * model.
 */
const useKnown = ({ draft }: Pick<EntryForm, 'draft'>): ModelFigures => {
  const models = useResource(capabilities).data?.models;
  const same = models?.find(
    (model) => model.provider_id === draft.provider_id && model.upstream_model === draft.upstream_model,
  );
  return same?.known ?? NOTHING_KNOWN;
};

/** Explains the values that empty fields show. */
const KnownFigures = () => {
  const t = useTexts(texts);
  const form = useEntryForm();
  const known = useKnown(form);
  return Object.keys(defaultsOf(form.draft, known)).length === 0 ? null : (
    <p className="quiet">{t('known')}</p>
  );
};

const KINDS = { 'ui:widget': 'checkboxes' };

const MODEL: EntryDescriptor = {
  namespace: 'models',
  entity: 'entity.model',
  texts: { ...settingTexts, ...texts },
  start: { id: '', provider_id: '', upstream_model: '' },
  fields: (_, group) => [
    'id',
    'provider_id',
    'upstream_model',
    group('limits', [...LIMITS, 'knowledge_cutoff', 'modalities']),
    group('prices', [...PRICES, ...PART_PRICES]),
    group('settings', ['reasoning_effort', ...MODEL_FIELDS]),
  ],
  ui: { ...MODEL_UI, modalities: { input: KINDS, output: KINDS } },
  useSchema: (form) => {
    const providers = useResource(idsOf('providers')).data;
    const known = useKnown(form);
    const { draft } = form;
    const { modalities: kinds } = known;
    return useMemo(() => {
      const ids = providers ?? [];
      const { provider_id: chosen } = draft;
      const isMissing = typeof chosen === 'string' && chosen !== '' && !ids.includes(chosen);
      return {
        ...defaultsOf(draft, known),
        modalities: {
          properties: { input: { default: kinds?.input }, output: { default: kinds?.output } },
        },
        provider_id: { enum: isMissing ? [...ids, chosen] : ids },
      };
    }, [providers, known, kinds, draft]);
  },
  check,
  After: KnownFigures,
};

/** `known` contains the figures that apply where the entry has no value. */
type Row = Model & { known: ModelFigures; isDangling: boolean };

type Figure = 'context_window' | (typeof PRICES)[number];

const figureOf = (row: Row, field: Figure): number | undefined => row[field] ?? row.known[field];

/** The columns of figures. A built-in figure, which applies where the entry has no value, is marked. */
const figureColumns: ColumnsOf<Row, keyof typeof texts> = (t, format) => {
  const shown = (row: Row, field: Figure, text: (value: number) => string): ReactNode => {
    const value = figureOf(row, field);
    if (value === undefined) return '—';
    if (value === row[field]) return text(value);
    return (
      <span className="quiet" title={t('value.known')}>
        {text(value)}
      </span>
    );
  };
  const prices = (row: Row): ReactNode => {
    const [input, output] = PRICES.map((field) => shown(row, field, format.usd));
    if (PRICES.every((field) => figureOf(row, field) === undefined)) return '—';
    return (
      <span title={t('price.note')}>
        {input} / {output}
      </span>
    );
  };
  return [
    {
      id: 'window',
      value: (row) => figureOf(row, 'context_window'),
      align: 'end',
      cell: (row) => shown(row, 'context_window', format.compact),
    },
    { id: 'price', value: (row) => figureOf(row, PRICES[0]), align: 'end', text: () => '', cell: prices },
  ];
};

const modalitiesOf = ({ modalities, known }: Row): string =>
  (['input', 'output'] as const)
    .map((direction) => (modalities?.[direction] ?? known.modalities?.[direction] ?? []).join(', '))
    .filter(Boolean)
    .join(' → ');

const columnsOf: ColumnsOf<Row, keyof typeof texts> = (t, format) => [
  {
    id: 'provider',
    value: (row) => row.provider_id,
    shortened: true,
    cell: ({ provider_id: id, isDangling }) => (
      <span title={isDangling ? t('provider.missing') : undefined} className="mono">
        {isDangling && <Dot tone="error" />}{' '}
        <ScreenLink to={`/providers?edit=${encodeURIComponent(id)}`}>{id}</ScreenLink>
      </span>
    ),
  },
  {
    id: 'upstream',
    label: t('field.upstream_model'),
    isCode: true,
    shortened: true,
    value: (row) => row.upstream_model,
  },
  ...figureColumns(t, format),
  { id: 'modalities', label: t('field.modalities'), value: modalitiesOf },
];

export default function Models() {
  const providers = useResource(idsOf('providers')).data;
  const known = useResource(capabilities).data?.models;
  const rowsOf = useCallback(
    (models: readonly Model[]) =>
      models.map(
        (model): Row => ({
          ...model,
          known: known?.find(({ id }) => id === model.id)?.known ?? NOTHING_KNOWN,
          isDangling: providers !== undefined && !providers.includes(model.provider_id),
        }),
      ),
    [known, providers],
  );
  return (
    <EntryScreen
      kind={MODEL}
      texts={texts}
      entries={useEntryRows(MODELS, rowsOf)}
      columns={columnsOf}
      primary={<ConnectButton />}
      // Without a provider, a model is connected together with one.
      first={providers?.length === 0 ? <ConnectButton /> : undefined}
      rowActions={({ id }, { t, open }) => (
        <Button small data-testid={`test-model-${id}`} onClick={() => open('test')}>
          {t('test')}
        </Button>
      )}
      dialogs={{ test: ModelTest, connect: ConnectDialog }}
    />
  );
}
