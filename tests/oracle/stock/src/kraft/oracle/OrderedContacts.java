package kraft.oracle;

import java.lang.reflect.Field;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.controller.QuorumController;

/**
 * The contact times of brokers, looked through in the order of the contacts. In Kafka it is the order of a hash map,
 * so which one of several silent brokers is fenced first is not part of what it promises; ours begins with the one
 * that has been silent for longest.
 */
final class OrderedContacts<K> extends ConcurrentHashMap<K, Long> {
    private static final long serialVersionUID = 1L;
    private final LinkedHashMap<K, Long> order = new LinkedHashMap<>();

    /** Put one in place of the map of a controller that was just activated. */
    static void install(QuorumController controller) throws ReflectiveOperationException {
        Object tracker = field(field(field(controller, "clusterControl"), "heartbeatManager"), "tracker");
        Field contacts = tracker.getClass().getDeclaredField("contactTimes");
        contacts.setAccessible(true);
        Map<?, ?> former = (Map<?, ?>) contacts.get(tracker);
        OrderedContacts<Object> ordered = new OrderedContacts<>();
        List<Object> brokers = new ArrayList<>(former.keySet());
        brokers.sort(Comparator.comparingInt(OrderedContacts::brokerId));
        brokers.forEach(broker -> ordered.put(broker, (Long) former.get(broker)));
        contacts.set(tracker, ordered);
    }

    private static int brokerId(Object broker) {
        try {
            return (Integer) field(broker, "id");
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    static Object field(Object owner, String name) throws ReflectiveOperationException {
        Field found = owner.getClass().getDeclaredField(name);
        found.setAccessible(true);
        return found.get(owner);
    }

    @Override
    public synchronized Long put(K key, Long value) {
        // What PassingTime adds must not end a session that would end at a later moment than this one.
        long atMs = value / 1_000_000 * 1_000_000 + PassingTime.LONGER_NS_MAX;
        order.remove(key);
        order.put(key, atMs);
        return super.put(key, atMs);
    }

    @Override
    public synchronized Long remove(Object key) {
        order.remove(key);
        return super.remove(key);
    }

    @Override
    public synchronized Set<Entry<K, Long>> entrySet() {
        List<Entry<K, Long>> entries = new ArrayList<>();
        order.forEach((key, value) -> entries.add(Map.entry(key, value)));
        return new AbstractSet<>() {
            @Override
            public Iterator<Entry<K, Long>> iterator() {
                Iterator<Entry<K, Long>> inner = entries.iterator();
                return new Iterator<>() {
                    private K last;

                    @Override
                    public boolean hasNext() {
                        return inner.hasNext();
                    }

                    @Override
                    public Entry<K, Long> next() {
                        Entry<K, Long> entry = inner.next();
                        last = entry.getKey();
                        return entry;
                    }

                    @Override
                    public void remove() {
                        OrderedContacts.this.remove(last);
                    }
                };
            }

            @Override
            public int size() {
                return entries.size();
            }
        };
    }
}
