package kraft.tests;

import java.io.File;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;

/** Prints the names of Kafka's test classes that start a cluster: by the annotations, or by the older harness. */
public final class Classes {
    private static final Set<String> ANNOTATIONS = Set.of("ClusterTest", "ClusterTests", "ClusterTemplate", "ClusterFeature");
    private static final Set<String> KITS = Set.of("org.apache.kafka.server.KRaftClusterTest", "kafka.server.RaftClusterSnapshotTest");

    private Classes() {
    }

    public static void main(String[] jars) throws Exception {
        Class<?> harness = Class.forName("kafka.server.QuorumTestHarness");
        Set<String> names = new TreeSet<>();
        for (String jar : jars) {
            try (JarFile file = new JarFile(new File(jar))) {
                file.stream().map(entry -> entry.getName()).filter(name -> name.endsWith("Test.class")).forEach(name -> {
                    String type = name.substring(0, name.length() - ".class".length()).replace('/', '.');
                    if (startsCluster(type, harness)) {
                        names.add(type);
                    }
                });
            }
        }
        names.forEach(System.out::println);
    }

    private static boolean startsCluster(String name, Class<?> harness) {
        try {
            Class<?> type = Class.forName(name, false, Classes.class.getClassLoader());
            if (Modifier.isAbstract(type.getModifiers())) {
                return false;
            }
            if (harness.isAssignableFrom(type) || KITS.contains(name)) {
                return true;
            }
            for (Method method : type.getMethods()) {
                for (var annotation : method.getAnnotations()) {
                    if (ANNOTATIONS.contains(annotation.annotationType().getSimpleName())) {
                        return true;
                    }
                }
            }
            return false;
        } catch (Throwable error) {
            System.err.println(name + ": " + error);
            return false;
        }
    }
}
