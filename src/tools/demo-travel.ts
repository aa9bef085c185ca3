import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import type { Tool } from './tool.ts';

/** Demo tools of the travel agent (agent-loop.md 18.4). The client stores the trips; the tools only acknowledge. */

const PlaceCategory = z
  .enum(['restaurant', 'hotel', 'attraction', 'shopping', 'nightlife'])
  .default('attraction');

const Trip = z.object({
  id: z.string(),
  name: z.string(),
  destination: z.string(),
  places: z.array(z.json()).optional(),
});

type Place = { id: string; name: string; address: string; lat: number; lng: number; description: string };

const PLACES: Readonly<Record<string, Place[]>> = {
  paris: [
    {
      id: 'paris-1',
      name: 'Eiffel Tower',
      address: 'Champ de Mars, 5 Avenue Anatole France, 75007 Paris',
      lat: 48.8584,
      lng: 2.2945,
      description: 'Iron lattice tower with a view over the city',
    },
    {
      id: 'paris-2',
      name: 'Louvre Museum',
      address: 'Rue de Rivoli, 75001 Paris',
      lat: 48.8606,
      lng: 2.3376,
      description: 'Museum of art and antiquities',
    },
    {
      id: 'paris-3',
      name: 'Notre-Dame Cathedral',
      address: '6 Parvis Notre-Dame, 75004 Paris',
      lat: 48.853,
      lng: 2.3499,
      description: 'Gothic cathedral on the Île de la Cité',
    },
  ],
  tokyo: [
    {
      id: 'tokyo-1',
      name: 'Senso-ji Temple',
      address: '2-3-1 Asakusa, Taito City, Tokyo',
      lat: 35.7148,
      lng: 139.7967,
      description: 'The oldest temple of the city',
    },
    {
      id: 'tokyo-2',
      name: 'Shibuya Crossing',
      address: '2-2-1 Dogenzaka, Shibuya City, Tokyo',
      lat: 35.6595,
      lng: 139.7005,
      description: 'A famously busy pedestrian crossing',
    },
  ],
};

const placesOf = (destination: string): Place[] => {
  const query = destination.toLowerCase();
  const known = Object.keys(PLACES).find((city) => query.includes(city));
  return (known && PLACES[known]) || [centreOf(destination)];
};

const centreOf = (destination: string): Place => ({
  id: 'place-1',
  name: `Central ${destination}`,
  address: `1 Main Street, ${destination}`,
  lat: 0,
  lng: 0,
  description: `The center of ${destination}`,
});

const addTrips = defineTool({
  id: 'add_trips',
  name: 'Add Trips',
  description: 'Adds trips to the plan.',
  category: 'travel',
  idempotent: true,
  input: z.object({ trips: z.array(Trip) }),
  execute: ({ trips }) => ({ data: { added: trips.length, total: trips.length } }),
});

const updateTrips = defineTool({
  id: 'update_trips',
  name: 'Update Trips',
  description: 'Changes trips of the plan.',
  category: 'travel',
  idempotent: true,
  input: z.object({ trips: z.array(Trip.partial().required({ id: true })) }),
  execute: ({ trips }) => ({ data: { updated: trips.length } }),
});

const deleteTrips = defineTool({
  id: 'delete_trips',
  name: 'Delete Trips',
  description: 'Removes trips from the plan.',
  category: 'travel',
  idempotent: true,
  input: z.object({ trip_ids: z.array(z.string()) }),
  execute: ({ trip_ids }) => ({ data: { deleted: trip_ids.length } }),
});

const selectTrip = defineTool({
  id: 'select_trip',
  name: 'Select Trip',
  description: 'Shows one trip of the plan.',
  category: 'travel',
  idempotent: true,
  input: z.object({ trip_id: z.string() }),
  execute: ({ trip_id }) => ({ data: { selected: trip_id } }),
});

const searchForPlaces = defineTool({
  id: 'search_for_places',
  name: 'Search For Places',
  description: 'Finds places at a destination.',
  category: 'travel',
  idempotent: true,
  input: z.object({ destination: z.string(), trip_id: z.string(), category: PlaceCategory }),
  execute: ({ destination, category }) => {
    const places = placesOf(destination).map((place) => ({ ...place, category }));
    return { data: { destination, category, places_found: places.length, places } };
  },
});

export const travelTools: readonly Tool[] = [addTrips, updateTrips, deleteTrips, selectTrip, searchForPlaces];
