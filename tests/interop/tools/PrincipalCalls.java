import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.security.kerberos.KerberosName;
import org.apache.kafka.common.security.kerberos.KerberosShortNamer;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;

/**
 * Asks stock which principals it makes of names. A line on stdin is a list of cases [kind, rules, names]: of certificates,
 * where the rules are one text, or of Kerberos, where they are a list. The answer is a line with a list for each case: the
 * principal of each name, null where it has none; or null for the case where the rules are refused.
 */
public final class PrincipalCalls {
    private interface Mapper {
        String principal(String name) throws Exception;
    }

    public static void main(String[] unused) throws Exception {
        ObjectMapper json = new ObjectMapper();
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<Object> answers = new ArrayList<>();
            for (JsonNode each : json.readTree(line)) {
                answers.add(answer(each.get(0).asText(), each.get(1), each.get(2)));
            }
            out.println(json.writeValueAsString(answers));
        }
    }

    private static List<String> answer(String kind, JsonNode rules, JsonNode names) {
        Mapper mapper;
        try {
            mapper = kind.equals("ssl") ? ofCertificates(rules.asText()) : ofKerberos(rules);
        } catch (RuntimeException refused) {
            return null;
        }
        List<String> principals = new ArrayList<>();
        for (JsonNode name : names) {
            try {
                principals.add(mapper.principal(name.asText()));
            } catch (Exception none) {
                principals.add(null);
            }
        }
        return principals;
    }

    private static Mapper ofCertificates(String rules) {
        SslPrincipalMapper mapper = SslPrincipalMapper.fromRules(rules);
        return mapper::getName;
    }

    private static Mapper ofKerberos(JsonNode rules) {
        List<String> texts = new ArrayList<>();
        rules.forEach(rule -> texts.add(rule.asText()));
        KerberosShortNamer namer = KerberosShortNamer.fromUnparsedRules("EXAMPLE.ORG", texts);
        return name -> namer.shortName(KerberosName.parse(name));
    }
}
